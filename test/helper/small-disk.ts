import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';

/** A file system of its own that is soon full. */
export interface SmallDisk {
  readonly folder: string;
  /** Takes all that is left. */
  fill(): void;
  /** Gives that back. */
  clear(): void;
}

/** False where this user may mount one, else why a test that needs it is left out: on Linux only root may. */
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

/** Unmounted with the test. */
export function mountSmallDisk(t: Test, megabytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-disk-'));
  mount(folder, megabytes);
  t.teardown(() => {
    // Lazily: a server that is just ending may still have a file open.
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
