import { createHash } from 'node:crypto';
import { scriptText } from '../../src/ledger/redis/scripts.ts';
import type { Link, Watcher } from './wire.ts';

/**
 * Failpoints: the named points at which a gateway is killed or loses a reply. Each is an event on a wire that the driver
 * stands in, so the gateway has no code for them: what it sent before the point arrives, what came back for it does not.
 *
 * | failpoint | on the wire |
 * |---|---|
 * | `hold asked` | the admission is on its way to Redis |
 * | `hold` | the admission is done in Redis; its reply is on its way |
 * | `asked` | the upstream has the call |
 * | `answered` | the upstream's answer is written |
 * | `settle sent` | the settle is on its way to Redis |
 * | `settled` | it is done; between settle and drain |
 * | `grant recorded` | a top-up is in the book and on its way to Redis, which does not get it |
 * | `change committed` | a key's change is in the book; Redis does not get it |
 * | `half rebuilt` | the keys of a lost account are restored, the account is not |
 * | `book committed` | PostgreSQL has committed journal entries; its reply is on its way |
 * | `drained` | the book has the entries; Redis does not get their deletion |
 * | `claimed` | PostgreSQL has committed the claim of an alert; nothing is sent yet |
 * | `posting` | the receiver has taken the connection of an alert */
export const FAILPOINTS = [
  'hold asked',
  'hold',
  'asked',
  'answered',
  'settle sent',
  'settled',
  'grant recorded',
  'change committed',
  'half rebuilt',
  'book committed',
  'drained',
  'claimed',
  'posting',
] as const;

/** What a gateway sends to Redis there can come late, when the gateway has given it up. */
export const SENT_TO_REDIS = [
  'hold asked',
  'settle sent',
  'grant recorded',
  'change committed',
  'drained',
] as const satisfies readonly (typeof FAILPOINTS)[number][];

/** Failpoints that are reached on a connection to PostgreSQL. */
export const ON_THE_WAY_TO_THE_BOOK: ReadonlySet<string> = new Set(['book committed', 'claimed']);

export type Failpoint = (typeof FAILPOINTS)[number];

/** Called when a failpoint is reached. `'swallow'`: the bytes that show it do not go on. */
export type OnReached = (point: Failpoint, link: Link | undefined) => 'swallow' | undefined;

interface Pattern {
  readonly point: Failpoint;
  /** The failpoint is reached when the gateway sends any of these. */
  readonly marks: readonly string[];
  /** The failpoint is the reply to it, not the sending. */
  readonly onReply: boolean;
}

/** Scripts go by their SHA-1, and whole where Redis does not know them: then by their first line. */
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
  { point: 'half rebuilt', marks: script('restore-keys'), onReply: true },
  { point: 'drained', marks: ['\nxdel\r'], onReply: false },
];

/** Longest mark: one may lie across two pieces of bytes. */
const OVERLAP = 128;

/** Finds the failpoints on the way to Redis. */
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
        // What is swallowed here must not take a settle along, which its gateway had written.
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

/** Finds the failpoints on the way to PostgreSQL. */
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
