import { parseArgs } from 'node:util';

export interface Options {
  /** Names of the profiles to run; empty: all. */
  readonly profiles: readonly string[];
  /** Approximate duration of one measured round, in seconds. */
  readonly seconds: number;
  /** Length of the profile `soak`. */
  readonly soakSeconds: number;
  readonly rounds: number;
  /** Too short to be a measurement. */
  readonly quick: boolean;
  readonly streams: number;
  readonly keys: number;
  /** Number of accounts with the keys of the profile `keys`. */
  readonly accounts: number;
  /** Rows of the ledger in the profile `ledger`. */
  readonly rows: number;
  /** The result as JSON on stdout, the table on stderr. */
  readonly json: boolean;
  /** 0: any free one. */
  readonly upstreamPort: number;
  /** Another gateway, started by the user, that passes calls to the upstream. */
  readonly peer: Peer | undefined;
}

export interface Peer {
  readonly url: string;
  /** Sent instead of Tollgate's key. Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: the same name as for the others. */
  readonly model: string | undefined;
  /** Undefined: its CPU and memory are not measured. */
  readonly pid: number | undefined;
}

export const USAGE = `npm run bench -- [options]

  --profile NAME   one profile only; may be repeated
  --seconds N      length of one measured round (default 1.5); of the profile soak, its whole length (default 600)
  --keys N         keys of the profile keys (default 10000)
  --accounts N     accounts that they belong to (default 1000)
  --rows N         rows of the ledger in the profile ledger (default 200000)
  --quick          one round of a second, 300 streams, 1,000 keys, 20,000 rows: a smoke test, not a measurement
  --json           the result as JSON on stdout

To put another gateway beside this one, on the same upstream (profiles json, sse, first-token, agent and body):

  --upstream-port N             where the upstream shall listen, in OpenAI's format: start the peer with that address
  --peer URL                    the peer's address; it must serve POST /v1/chat/completions
  --peer-header 'name: value'   what its calls carry, such as its key; may be repeated
  --peer-model NAME             what it calls the model (default bench-chat)
  --peer-pid N                  its process, to measure CPU and memory`;

/** Throws Error with a line for the user if the arguments are invalid. */
export function readOptions(args: readonly string[], known: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      profile: { type: 'string', multiple: true, default: [] },
      seconds: { type: 'string' },
      keys: { type: 'string' },
      accounts: { type: 'string' },
      rows: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      'upstream-port': { type: 'string', default: '0' },
      peer: { type: 'string' },
      'peer-header': { type: 'string', multiple: true, default: [] },
      'peer-model': { type: 'string' },
      'peer-pid': { type: 'string' },
    },
  });
  const unknown = values.profile.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`there is no profile ${unknown}; known: ${known.join(', ')}`);
  const seconds = positive('--seconds', values.seconds ?? (values.quick ? '1' : '1.5'), 86_400);
  return {
    profiles: values.profile,
    seconds,
    soakSeconds: values.seconds === undefined ? (values.quick ? 20 : 600) : seconds,
    rounds: values.quick ? 1 : 3,
    quick: values.quick,
    streams: values.quick ? 300 : 1_000,
    accounts: atLeast('--accounts', values.accounts ?? (values.quick ? '100' : '1000'), 1, 1_000_000),
    keys: atLeast('--keys', values.keys ?? (values.quick ? '1000' : '10000'), 100, 1_000_000),
    rows: atLeast('--rows', values.rows ?? (values.quick ? '20000' : '200000'), 2_000, 1e9),
    json: values.json,
    upstreamPort: wholeNumber('--upstream-port', values['upstream-port'], 65_535),
    peer: peerOf(values),
  };
}

function peerOf(values: {
  peer?: string;
  'peer-header': readonly string[];
  'peer-model'?: string;
  'peer-pid'?: string;
  'upstream-port': string;
}): Peer | undefined {
  const { peer: url, 'peer-header': headers, 'peer-model': model, 'peer-pid': pid } = values;
  if (url === undefined) {
    if (headers.length > 0 || model !== undefined || pid !== undefined)
      throw new Error(
        '--peer-header, --peer-model and --peer-pid say something of a peer: name it with --peer',
      );
    return undefined;
  }
  if (!/^https?:/.test(url) || !URL.canParse(url)) throw new Error('--peer must be a URL, http://host:port');
  if (values['upstream-port'] === '0') {
    throw new Error('--peer needs --upstream-port, and a peer that was started with that upstream');
  }
  return {
    url: url.replace(/\/$/, ''),
    headers: Object.fromEntries(headers.map(headerOf)),
    model,
    pid: pid === undefined ? undefined : wholeNumber('--peer-pid', pid, 2 ** 22),
  };
}

function headerOf(text: string): [string, string] {
  const colon = text.indexOf(':');
  if (colon < 1) throw new Error("--peer-header must be 'name: value'");
  return [text.slice(0, colon).trim().toLowerCase(), text.slice(colon + 1).trim()];
}

function positive(option: string, text: string, max: number): number {
  const value = Number(text);
  if (!(value > 0 && value <= max)) throw new Error(`${option} must be a number above 0, ${max} at most`);
  return value;
}

function atLeast(option: string, text: string, min: number, max: number): number {
  const value = wholeNumber(option, text, max);
  if (value < min) throw new Error(`${option} must be ${min} or more`);
  return value;
}

function wholeNumber(option: string, text: string, max: number): number {
  const value = Number(text);
  if (text === '' || !Number.isInteger(value) || value < 0 || value > max)
    throw new Error(`${option} must be a whole number, ${max} at most`);
  return value;
}
