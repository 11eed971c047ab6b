// Where a file cannot be: in a directory that is not there, and on file systems where SQLite's locks are not to be trusted. A
// lease file there would have two holders sooner or later (one file, one kernel: S13), so it is refused unless the URL says
// `network=allow`.
import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { LeaseError } from '../../domain/errors.js';

/** The kernel's magic numbers of file systems that reach over a network, or may. */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9P'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x7461636f, 'OCFS2'],
  [0x01161970, 'GFS2'],
  [0x65735546, 'FUSE'],
  [0x19830326, 'BeeGFS'],
]);

/** Its name if it is one of them. Some kernels answer the number as signed. */
export function networkFileSystem(type: number): string | undefined {
  return NETWORK_FILE_SYSTEMS.get(type >>> 0);
}

/** SQLite only says that it cannot open the file. */
export function refuseMissingFolder(path: string): void {
  let isFolder: boolean;
  try {
    isFolder = statSync(dirname(path)).isDirectory();
  } catch (cause) {
    throw noFolder(path, cause);
  }
  if (!isFolder) throw noFolder(path);
}

function noFolder(path: string, cause?: unknown): LeaseError {
  return new LeaseError('STORE_UNAVAILABLE', `the directory ${dirname(path)} cannot be used: create it first`, {
    details: { path },
    cause,
    retryable: false,
  });
}

export function refuseNetworkFileSystem(path: string, allowed: boolean): void {
  if (allowed) return;
  const folder = dirname(path);
  let type: number;
  try {
    type = statfsSync(folder).type;
  } catch (cause) {
    throw noFolder(path, cause);
  }
  const name = networkFileSystem(type);
  if (name === undefined) return;
  throw new LeaseError(
    'STORE_INCOMPATIBLE',
    `${folder} is on ${name}, where file locks do not span machines safely: use a local disk, PostgreSQL or Redis, ` +
      'or add ?network=allow to the URL if only this machine ever opens the file',
    { details: { path, fileSystem: name } },
  );
}
