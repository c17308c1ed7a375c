// Whether SQLite's WAL mode is safe on a kind of file system. WAL needs shared memory and locks that all who open the
// file see; network file systems do not give them (https://www.sqlite.org/wal.html). Pure.
import type { Mount } from '../mirror/mounts.ts'
import { type Check, note, ok, wrong } from './check.ts'

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
