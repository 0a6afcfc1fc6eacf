import type { HealthView } from '../../../api/operator/health-view.ts';
import { count } from '../format/credits.ts';
import { durationWords } from '../format/duration.ts';

/** A part of the gateway: how it is, and what to do if that is not well. */
export interface Check {
  readonly part: string;
  readonly kind: 'good' | 'warning' | 'bad';
  readonly word: string;
  readonly detail: string;
  readonly advice?: string;
}

const ORDER = { bad: 0, warning: 1, good: 2 } as const;
const LATE_MS = 60_000;
/** Difference of clocks from which entries are noticeably misdated. */
const SKEW_MS = 30_000;

/** The parts of the gateway, what needs attention first. */
export function checksOf(health: HealthView): readonly Check[] {
  const checks: readonly Check[] = [
    { part: 'Redis', ...redis(health) },
    { part: 'Database', ...database(health) },
    { part: 'Journal', ...journal(health) },
    { part: 'Alerts', ...alerts(health) },
    { part: 'Refused-call log', ...refusedCalls(health) },
    { part: 'Request fields', ...requestFields(health) },
    { part: 'Client addresses', ...clientAddresses(health) },
    { part: 'Clock', ...clock(health) },
  ];
  return checks.toSorted((one, other) => ORDER[one.kind] - ORDER[other.kind]);
}

type State = Omit<Check, 'part'>;

function redis({ redis: { ok, durable, detail = '' } }: HealthView): State {
  if (!ok) {
    return bad(
      'Down',
      detail,
      'Calls get 503 until Redis takes writes again. Check the server and its memory.',
    );
  }
  if (durable) return good('Answers, takes writes, persists, and evicts nothing.');
  return warning(
    'At risk',
    detail,
    'A restart could lose charges. Turn on append-only persistence, and set maxmemory-policy to noeviction.',
  );
}

function database({ book: { ok, detail = '' } }: HealthView): State {
  if (ok) return good('Answers and takes writes.');
  return bad('Down', detail, 'Calls continue, and wait in the journal. Accounts and keys cannot be changed.');
}

function journal({ journal: state }: HealthView): State {
  if (state === null) return warning('Unknown', 'The journal is in Redis, which does not answer.');
  const { entries, age_ms, refused } = state;
  if (refused > 0) {
    return bad(
      'Stuck',
      `The database refuses ${counted(refused, 'entry', 'entries')}.`,
      'The log names each. They stay in Redis until the cause is fixed.',
    );
  }
  const waiting = `${counted(entries, 'entry waits', 'entries wait')} for the database`;
  if (age_ms <= LATE_MS) return good(`${waiting}.`);
  return warning(
    'Behind',
    `${waiting}, the oldest for ${durationWords(age_ms)}.`,
    'Check the load of the database. Balances and limits stay exact meanwhile.',
  );
}

function alerts({ alerts: state }: HealthView): State {
  if (state === null) return warning('Unknown', 'The queue is in the database, which does not answer.');
  const { queued, failing } = state;
  const waiting = `${counted(queued, 'alert waits', 'alerts wait')} to be sent.`;
  if (failing === 0) return good(`${waiting} None failed in the last 24 hours.`);
  return warning(
    'Failing',
    `The last alert to ${counted(failing, 'receiver was', 'receivers were')} not delivered. ${waiting}`,
    "Each account's Alerts page has the reason. Its owner can correct the address.",
  );
}

function refusedCalls({ refused_calls: { waiting, dropped } }: HealthView): State {
  const words = `${counted(waiting, 'record waits', 'records wait')} to be written.`;
  if (dropped === 0) return good(words);
  return warning(
    'Dropped',
    `${counted(dropped, 'record was', 'records were')} dropped since the start. ${words}`,
    'The database did not keep up, so Requests lacks some refused calls. Charges are not affected.',
  );
}

function requestFields({ unknown_members: members }: HealthView): State {
  if (members.length === 0) return good('All fields of the last 24 hours are in the price tables.');
  return warning(
    'Unknown',
    `Not in the price tables: ${members.map(({ name, at }) => `${name} (${at})`).join(', ')}.`,
    'Check whether the provider bills for them. Each is reported once a day.',
  );
}

function clientAddresses({ unnamed_proxy_at: at }: HealthView): State {
  if (at === null) return good('No restricted key was checked by the address of an unknown proxy.');
  return warning(
    'Proxy not named',
    `A key with address or country restrictions was checked by a private address at ${at}.`,
    'Name every proxy in TRUST_PROXY. Until then, allowed addresses refuse everybody and blocked countries nobody.',
  );
}

function clock({ clock_skew_ms: skew }: HealthView): State {
  const size = Math.abs(skew);
  if (size <= SKEW_MS)
    return good(`Agrees with that of Redis to within ${durationWords(Math.max(size, 1))}.`);
  return warning(
    'Wrong',
    `This machine's clock is ${durationWords(size)} ${skew > 0 ? 'ahead of' : 'behind'} that of Redis.`,
    'Synchronize both by NTP. Ledger entries get wrong times, and sessions end early or late.',
  );
}

function counted(amount: number, one: string, many: string): string {
  return `${amount === 0 ? 'No' : count(amount)} ${amount === 1 ? one : many}`;
}

function good(detail: string): State {
  return { kind: 'good', word: 'OK', detail };
}

function warning(word: string, detail: string, advice?: string): State {
  return { kind: 'warning', word, detail, ...(advice !== undefined && { advice }) };
}

function bad(word: string, detail: string, advice: string): State {
  return { kind: 'bad', word, detail, advice };
}
