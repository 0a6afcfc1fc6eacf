import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { type CallRequest, chatCall } from './call-request.ts';
import type { Column, ProfileReport, Row, Skipped } from './report.ts';
import { onStage } from './stage.ts';
import type { Target } from './target.ts';
import { usageOf } from './usage.ts';

const UPLOADS = 200;
const UPLOAD_BYTES = 5 * 2 ** 20;
const MEBIBYTE = 2 ** 20;

const COLUMNS: readonly Column[] = [
  { key: 'idleMb', title: 'idle MB', digits: 0 },
  { key: 'peakMb', title: 'peak MB', digits: 0 },
  { key: 'grownMb', title: 'grown MB', digits: 0 },
  { key: 'cpuMicros', title: 'CPU µs/call', digits: 0 },
  { key: 'seconds', title: 'seconds', digits: 1 },
];

/** Memory for many large concurrent bodies. Only Linux reports the peak of another process. */
export async function uploads(): Promise<ProfileReport | Skipped> {
  if (!existsSync('/proc/self/clear_refs')) {
    return { profile: 'uploads', skipped: 'this system does not tell how much memory a process had at most' };
  }
  const about = `${UPLOADS} chat calls of ${UPLOAD_BYTES / MEBIBYTE} MB at once, ${(UPLOADS * UPLOAD_BYTES) / MEBIBYTE} MB in all`;
  const { result, checks } = await onStage({ accounts: 1, keysEach: 1, restricted: false }, async (stage) => {
    const key = stage.accounts[0]?.keys[0] ?? '';
    const warmUp = chatCall(key, { promptBytes: 2 * MEBIBYTE });
    const call = chatCall(key, { promptBytes: UPLOAD_BYTES });
    const rows: Row[] = [];
    for (const target of [stage.baseline, stage.gateway]) {
      await send(target, warmUp, 1);
      rows.push({ target: target.name, values: await measureUploads(target, call) });
    }
    return rows;
  });
  return { profile: 'uploads', about, columns: COLUMNS, rows: result, checks, notes: [] };
}

async function measureUploads(target: Target, call: CallRequest): Promise<Row['values']> {
  const idle = usageOf(target.pids);
  // Reset the peak here.
  for (const pid of target.pids) writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const startedAt = performance.now();
  await send(target, call, UPLOADS);
  const seconds = (performance.now() - startedAt) / 1_000;
  const peakMb = target.pids.reduce((sum, pid) => sum + peakMegabytes(pid), 0);
  const idleMb = idle.rssBytes / MEBIBYTE;
  const cpuMicros = (usageOf(target.pids).cpuMicros - idle.cpuMicros) / UPLOADS;
  return { idleMb, peakMb, grownMb: peakMb - idleMb, cpuMicros, seconds };
}

function peakMegabytes(pid: number): number {
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** Sends the same call this many times concurrently, sharing the bytes of its body. Rejects if one doesn't get 200. */
async function send(target: Target, { path, headers, body }: CallRequest, times: number): Promise<void> {
  const agent = new Agent({ maxSockets: times });
  const bytes = Buffer.from(body);
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const outgoing = request(`${target.urls[0]}${path}`, { method: 'POST', headers, agent });
      outgoing.on('error', reject);
      outgoing.on('response', (response) => {
        response.on('error', reject).on('end', resolve).resume();
        if (response.statusCode !== 200) reject(new Error(`an upload was answered ${response.statusCode}`));
      });
      outgoing.end(bytes);
    });
  await Promise.all(Array.from({ length: times }, one));
  agent.destroy();
}
