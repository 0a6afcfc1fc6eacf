import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';

/** A small file system, which a test can fill. */
export interface SmallDisk {
  readonly folder: string;
  /** Fills all free space. */
  fill(): void;
  /** Frees that space again. */
  clear(): void;
}

/** False where this user may mount a file system, else the reason for skipping a test: only root may, and on Linux. */
export function whyNoSmallDisk(): string | false {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-disk-'));
  try {
    mount(folder, 1);
    execFileSync('umount', [folder], { stdio: 'pipe' });
    return false;
  } catch {
    return 'needs the right to mount a file system (root on Linux)';
  } finally {
    rmdirSync(folder);
  }
}

function mount(folder: string, megabytes: number): void {
  const options = `size=${megabytes}m,mode=0777`;
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'pipe' });
}

/** Mounts a file system of `megabytes`, which is unmounted with the test. */
export function mountSmallDisk(t: Test, megabytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-disk-'));
  mount(folder, megabytes);
  t.teardown(() => {
    // Lazily, because a server that is just ending may still have a file open.
    execFileSync('umount', ['--lazy', folder]);
    rmdirSync(folder);
  });
  const filler = join(folder, 'filler');
  return {
    folder,
    fill() {
      for (let part = 0; ; part++) {
        try {
          writeFileSync(`${filler}-${part}`, Buffer.alloc(64 * 1024));
        } catch {
          break;
        }
      }
    },
    clear() {
      execFileSync('sh', ['-c', `rm -f "${filler}"-*`]);
    },
  };
}
