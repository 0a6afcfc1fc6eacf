import { createHash } from 'node:crypto';
import { scriptText } from '../../../src/ledger/redis/scripts.ts';
import type { Link, Watcher } from '../world/wire.ts';

/**
 * Names of the failpoints, at which a gateway is killed or loses a reply. Each is an event on a connection that goes
 * through a wire of the driver, so the gateway has no code for them. What the gateway sent before the point arrives;
 * replies after it do not.
 *
 * | failpoint | on the wire | |---|---| | `hold asked` | the admission is being sent to Redis | | `hold` | the
 * admission is done in Redis; its reply is on its way | | `asked` | the upstream has the call | | `answered` | the
 * upstream's answer is written | | `settle sent` | the settle is being sent to Redis | | `settled` | the settle is done
 * in Redis, the drain has not begun | | `grant recorded` | a top-up is in the book and on its way to Redis, which does
 * not get it | | `change committed` | a key's change is in the book; Redis does not get it | | `account change committed` |
 * an account's change is in the book; Redis does not get it | | `half rebuilt` | the
 * keys of a lost account are restored, the account is not | | `book committed` | PostgreSQL has committed journal
 * entries; its reply is on its way | | `drained` | the book has the entries; Redis does not get their deletion | |
 * `claimed` | PostgreSQL has committed the claim of an alert; nothing is sent yet | | `posting` | the receiver has
 * taken the connection of an alert
 */
export const FAILPOINTS = [
  'hold asked',
  'hold',
  'asked',
  'answered',
  'settle sent',
  'settled',
  'grant recorded',
  'change committed',
  'account change committed',
  'half rebuilt',
  'book committed',
  'drained',
  'claimed',
  'posting',
] as const;

/** Failpoints at which a command to Redis can be made to arrive late, after the gateway has given it up. */
export const SENT_TO_REDIS = [
  'hold asked',
  'settle sent',
  'grant recorded',
  'change committed',
  'account change committed',
  'drained',
] as const satisfies readonly (typeof FAILPOINTS)[number][];

/** Failpoints that are reached on a connection to PostgreSQL. */
export const ON_THE_WAY_TO_THE_BOOK: ReadonlySet<string> = new Set(['book committed', 'claimed']);

export type Failpoint = (typeof FAILPOINTS)[number];

/** Called at a failpoint. Returns 'swallow' if the bytes that show it must not be passed on. */
export type OnReached = (point: Failpoint, link: Link | undefined) => 'swallow' | undefined;

interface Pattern {
  readonly point: Failpoint;
  /** Bytes that identify the failpoint: the gateway sends any one of these. */
  readonly marks: readonly string[];
  /** True if the failpoint is the reply to those bytes rather than their sending. */
  readonly onReply: boolean;
}

/** Marks of a script: its SHA-1, and its first line, for a Redis that gets the whole text. */
function script(file: string): string[] {
  const text = scriptText(file);
  return [createHash('sha1').update(text).digest('hex'), text.slice(0, text.indexOf('\n'))];
}

const REDIS_PATTERNS: readonly Pattern[] = [
  { point: 'hold asked', marks: script('admit'), onReply: false },
  { point: 'hold', marks: script('admit'), onReply: true },
  { point: 'settle sent', marks: script('settle'), onReply: false },
  { point: 'settled', marks: script('settle'), onReply: true },
  { point: 'grant recorded', marks: script('post-once'), onReply: false },
  { point: 'change committed', marks: script('publish-key'), onReply: false },
  { point: 'account change committed', marks: script('publish-account'), onReply: false },
  { point: 'half rebuilt', marks: script('restore-keys'), onReply: true },
  { point: 'drained', marks: ['\nxdel\r'], onReply: false },
];

/** Bytes of the longest mark. That many of the last piece are kept, because a mark can be cut in two. */
const OVERLAP = 128;

/** Watcher that finds the failpoints on connections to Redis. */
export function redisFailpoints(onReached: OnReached): Watcher {
  const tails = new WeakMap<Link, string>();
  const awaited = new WeakMap<Link, Failpoint[]>();
  return {
    sent(bytes, link) {
      const tail = tails.get(link) ?? '';
      const text = tail + bytes.toString('latin1');
      tails.set(link, text.slice(-OVERLAP));
      const has = ({ marks }: Pattern) =>
        marks.some((mark) => text.includes(mark, Math.max(0, tail.length - mark.length + 1)));
      const reached = REDIS_PATTERNS.filter(has);
      const carriesSettle = reached.some(({ point }) => point === 'settle sent');
      let verdict: 'swallow' | undefined;
      for (const { point, onReply } of reached) {
        if (onReply) awaited.set(link, [...(awaited.get(link) ?? []), point]);
        // Bytes that contain a settle are not swallowed, because the gateway had written that.
        else if (point === 'settle sent' || !carriesSettle) verdict = onReached(point, link) ?? verdict;
      }
      return verdict;
    },
    replied(_bytes, link) {
      const points = awaited.get(link) ?? [];
      awaited.delete(link);
      return verdictOn(points, onReached, link);
    },
  };
}

/** Watcher that finds the failpoints on connections to PostgreSQL. */
export function bookFailpoints(onReached: OnReached): Watcher {
  const writing = new WeakMap<Link, Set<Failpoint>>();
  const committing = new WeakMap<Link, Set<Failpoint>>();
  return {
    sent(bytes, link) {
      const text = bytes.toString('latin1');
      const points = writing.get(link) ?? new Set();
      if (text.includes('insert into "ledger"')) points.add('book committed');
      if (text.includes('update "alerts" set "state"')) points.add('claimed');
      if (text.includes('commit\0')) {
        committing.set(link, points);
        writing.delete(link);
      } else writing.set(link, points);
      return undefined;
    },
    replied(_bytes, link) {
      const points = [...(committing.get(link) ?? [])];
      committing.delete(link);
      return verdictOn(points, onReached, link);
    },
  };
}

function verdictOn(points: readonly Failpoint[], onReached: OnReached, link: Link): 'swallow' | undefined {
  let verdict: 'swallow' | undefined;
  for (const point of points) verdict = onReached(point, link) ?? verdict;
  return verdict;
}
