import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';

/** Linux counts in hundredths of a second everywhere it matters (USER_HZ). */
const MICROS_PER_TICK = 10_000;

export interface Usage {
  /** User and system time of all threads since the process began. */
  readonly cpuMicros: number;
  readonly rssBytes: number;
}

/** Sum over these processes. Throws if one is gone. */
export function usageOf(pids: readonly number[]): Usage {
  const all = pids.map(existsSync('/proc/self/stat') ? readProc : askPs);
  return {
    cpuMicros: all.reduce((sum, { cpuMicros }) => sum + cpuMicros, 0),
    rssBytes: all.reduce((sum, { rssBytes }) => sum + rssBytes, 0),
  };
}

/** CPU that this Redis has used since it began, in microseconds. */
export async function redisCpuMicros(redis: Redis): Promise<number> {
  const info = await redis.info('cpu');
  const seconds = (field: string) => Number(new RegExp(`^${field}:(.+)$`, 'm').exec(info)?.[1]);
  return (seconds('used_cpu_user') + seconds('used_cpu_sys')) * 1e6;
}

/** A process and those that it started. */
export function familyOf(pid: number): number[] {
  const list = existsSync('/proc/self/stat')
    ? readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    : spawnSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' }).stdout;
  return [pid, ...list.split(/\s+/).filter(Boolean).map(Number)];
}

function readProc(pid: number): Usage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name, in parentheses, can contain anything; utime and stime are the 12th and 13th field after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const rssKb = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return {
    cpuMicros: (Number(fields[11]) + Number(fields[12])) * MICROS_PER_TICK,
    rssBytes: rssKb * 1024,
  };
}

/** macOS: minutes:seconds.hundredths, and kilobytes. */
function askPs(pid: number): Usage {
  const [time = '', rss = ''] = execFileSync('ps', ['-o', 'time=,rss=', '-p', String(pid)], {
    encoding: 'utf8',
  })
    .trim()
    .split(/\s+/);
  const seconds = time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return { cpuMicros: seconds * 1e6, rssBytes: Number(rss) * 1024 };
}
