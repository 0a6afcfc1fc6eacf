import type { Options } from './options.ts';
import { agent, body, hot, json, keys, sse } from './profile-calls.ts';
import { changes } from './profile-changes.ts';
import { crowd } from './profile-crowd.ts';
import { firstToken } from './profile-first-token.ts';
import { ledger } from './profile-ledger.ts';
import { processes } from './profile-processes.ts';
import { soak } from './profile-soak.ts';
import { start } from './profile-start.ts';
import { streams } from './profile-streams.ts';
import { uploads } from './profile-uploads.ts';
import type { ProfileReport, Skipped } from './report.ts';

/** The profiles of specification section 9, in the order of their run. */
export const PROFILES: ReadonlyMap<string, (options: Options) => Promise<ProfileReport | Skipped>> = new Map<
  string,
  (options: Options) => Promise<ProfileReport | Skipped>
>([
  ['json', json],
  ['sse', sse],
  ['first-token', firstToken],
  ['streams', streams],
  ['keys', keys],
  ['hot', hot],
  ['agent', agent],
  ['body', body],
  ['uploads', uploads],
  ['crowd', crowd],
  ['changes', changes],
  ['processes', processes],
  ['ledger', ledger],
  ['start', start],
  ['soak', soak],
]);

/** Too long for a run of everything; run only by name. */
export const ONLY_BY_NAME: ReadonlySet<string> = new Set(['soak']);
