// Which kind of file system holds a file, and whether SQLite's WAL mode is safe there. WAL needs shared memory and
// locks that all who open the file see; network file systems do not give them (https://www.sqlite.org/wal.html). Pure.
import { type Check, note, ok, wrong } from './check.ts'

export interface Mount {
  /** Such as `ext4` or `nfs4`. */
  type: string
  mountPoint: string
}

/** The mount that holds the absolute `path`, by /proc/self/mountinfo (proc(5)): the last longest mount point. */
export function mountOf(mountinfo: string, path: string): Mount | null {
  let found: Mount | null = null
  for (const line of mountinfo.split('\n')) {
    // 36 35 98:0 /root /point options optional-fields - type source super-options
    const [before = '', after = ''] = line.split(' - ')
    const mountPoint = unescaped(before.split(' ')[4] ?? '')
    const type = after.split(' ')[0] ?? ''
    if (mountPoint === '' || type === '' || !holds(mountPoint, path)) continue
    if (found === null || mountPoint.length >= found.mountPoint.length) found = { type, mountPoint }
  }
  return found
}

function holds(mountPoint: string, path: string): boolean {
  return mountPoint === '/' || path === mountPoint || path.startsWith(`${mountPoint}/`)
}

/** Space, tab, line feed and backslash are written as `\040` and the like. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
}

const LOCAL =
  /^(?:ext[234]|xfs|btrfs|zfs|f2fs|bcachefs|jfs|reiserfs|nilfs2|ntfs3?|fuseblk|vfat|exfat|msdos|apfs|hfs(?:plus)?|ufs)$/
const SHARED =
  /^(?:nfs\d?|cifs|smb\d?|smbfs|afs|ceph|lustre|gpfs|beegfs|glusterfs|orangefs|ocfs2|gfs2|coda|9p|drvfs|vboxsf|prl_fs|vmhgfs|davfs|fuse\.(?:sshfs|s3fs|goofys|mount-s3|gcsfuse|blobfuse2?|rclone|glusterfs|ceph|juicefs|seaweedfs|mfs|vmhgfs-fuse|grpcfuse|osxfs))$/
const PASSING: Readonly<Record<string, string>> = {
  tmpfs: 'lies in memory and is gone after a restart',
  ramfs: 'lies in memory and is gone after a restart',
  overlay: 'belongs to a container and goes with it',
  aufs: 'belongs to a container and goes with it',
}

/** `mount` is null where the system does not say. */
export function fileSystemCheck(mount: Mount | null): Check {
  const name = 'file system'
  if (mount === null) {
    return note(name, 'this system does not say which one it is', 'Make sure that the mirror lies on a local disk.')
  }
  const { type, mountPoint } = mount
  if (LOCAL.test(type)) return ok(name, `${type}, local (${mountPoint})`)
  const passing = PASSING[type]
  if (passing !== undefined) {
    return note(
      name,
      `${type} (${mountPoint}): what is there ${passing}`,
      'Keep the mirror on a local disk or a volume.',
    )
  }
  if (SHARED.test(type)) {
    return wrong(
      name,
      `${type} (${mountPoint}) is no local disk: SQLite's WAL mode can damage the mirror there`,
      'Keep the mirror on a local disk (--db), and publish copies or snapshots to that place.',
    )
  }
  return note(name, `${type} (${mountPoint}): not known here`, 'Make sure that it is a local disk, not a network one.')
}
