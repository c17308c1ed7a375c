// Tasks as a list shows them, with nothing odd about them, the newest first.

export function plainTasks(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    id: `task-${String(index).padStart(2, '0')}`,
    userId: 'u',
    data: { method: 'GET', url: 'https://x.example/', body: '', header: {} },
    systemStatus: 'DONE',
    createdAt: 1_790_000_000_000 - 1000 * index,
    completedAt: 1_790_000_000_005 - 1000 * index,
    result: { body: null, header: {}, statusCode: 200, statusText: 'OK' },
  }))
}
