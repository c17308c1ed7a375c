// The compressions of a snapshot's files. Names only; nothing of formats.

export const COMPRESSIONS = ['zstd', 'snappy', 'gzip', 'none'] as const
export type Compression = (typeof COMPRESSIONS)[number]

/** Compressions of a whole file, with the suffix that each adds to its name. */
export const SUFFIX_OF: Readonly<Partial<Record<Compression, string>>> = { none: '', gzip: '.gz', zstd: '.zst' }
