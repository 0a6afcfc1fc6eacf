import { type IncomingMessage, request } from 'node:http';
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { type Test, test } from 'tap';
import type { Model, Target, Upstream } from '../../src/domain/catalog.ts';
import { creditsString, type Micro, micro } from '../../src/domain/credits.ts';
import type { Category } from '../../src/domain/key.ts';
import type { LedgerEntry } from '../../src/domain/ledger-entry.ts';
import { type Unit, type Usage, unitRow } from '../../src/domain/units.ts';
import { type AnswerFile, answerFiles, type CallName } from '../helper/fixtures/answer-files.ts';
import { creditPrice } from '../helper/fixtures/credit-price.ts';
import { plainAnswer, plainBody } from '../helper/fixtures/plain-answers.ts';
import { startRawProvider } from '../helper/stand-ins/raw-provider.ts';
import { type InProcessGateway, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';
import { silentWav } from '../helper/start/media-gateway.ts';

/** What the numbers at the start of the files' names stand for. */
const RULES: Readonly<Record<string, string>> = {
  '00': 'answers as their vendors document them',
  '01': 'an error says something',
  '02': 'the body decides, not its label',
  '03': 'counts never shrink',
  '04': 'a failure in a 200 is a failure',
  '05': 'a total is enough',
  '06': 'the cache explains first',
  '07': 'all names of the cache',
  '08': 'an end is a non-empty finish_reason',
  '09': 'a report counts wherever it is',
  '10': 'zeros beside an answer are no report',
  '11': 'estimates are near the tokens',
  '12': 'framing as clients read it',
  '15': 'codings and interim answers',
  '16': 'no byte of sound is a failure',
  '17': 'errors of a CDN are handed over',
  '18': 'blank lines before JSON pass',
  '19': 'pictures that came are charged',
};

const FILES = answerFiles(process.env.ANSWER);
/** Files up to this size run a second time, each byte in a chunk of its own. */
const SMALL_BYTES = 1_500;

/** How a file runs: with one target, with each byte in a chunk, with a second target. */
const WAYS = { '': 'with one target', '.bytes': 'byte by byte', '.two': 'with two targets' } as const;
type Way = keyof typeof WAYS;

function waysOf({ second, send, body, coded }: AnswerFile): Way[] {
  const isSmall = body.length > 0 && body === coded && body.length <= SMALL_BYTES;
  return [
    '',
    ...(isSmall && ['length', 'chunked', 'waits'].includes(send) ? (['.bytes'] as const) : []),
    ...(second === 'none' ? [] : (['.two'] as const)),
  ];
}

interface Call {
  readonly file: AnswerFile;
  readonly way: Way;
  /** Resolved when the client has the first byte of the answer. */
  readonly begun: PromiseWithResolvers<void>;
}

interface Run extends Call {
  readonly got: Got;
}

const CATEGORIES: Readonly<Partial<Record<CallName, Category>>> = {
  images: 'image',
  speech: 'tts',
  transcription: 'stt',
};

/** A model for each run of each file. The provider sees which one by the model's name. */
function catalogOf(url: string): Map<string, Model> {
  const upstream = (name: string, call: CallName): Upstream => ({
    name,
    url,
    apiKey: `secret-of-${name}`,
    format: call === 'messages' ? 'anthropic' : 'openai',
  });
  const models = FILES.flatMap((file) =>
    waysOf(file).map((way): Model => {
      const slug = `${file.name}${way}`;
      const format = file.call === 'messages' ? 'anthropic' : 'openai';
      const model: Model = {
        slug,
        upstream: upstream(`first-${format}`, file.call),
        upstreamModel: slug,
        category: CATEGORIES[file.call] ?? 'text',
        maxOutputTokens: 10_000,
        contextWindow: 1_000_000,
        price: creditPrice(file.prices),
        priceSource: 'config',
      };
      if (way !== '.two') return model;
      const other = { ...model, upstream: upstream(`second-${format}`, file.call), upstreamModel: PLAIN };
      const targets: Target[] = [model, other].map((one, priority) => ({ model: one, weight: 1, priority }));
      return { ...model, targets };
    }),
  );
  return new Map(models.map((model) => [model.slug, model]));
}

/** Name of each second target at the provider, which gets a plain answer. */
const PLAIN = 'plain';

const TALK = [{ role: 'user', content: 'hi' }];
const ASKS: Readonly<Record<CallName, object>> = {
  chat: { messages: TALK, max_tokens: 2_000 },
  completions: { prompt: 'hi', max_tokens: 2_000 },
  responses: { input: 'hi', max_output_tokens: 2_000 },
  messages: { messages: TALK, max_tokens: 2_000 },
  embeddings: { input: 'hi' },
  images: { prompt: 'A cat' },
  speech: { input: 'Hello', voice: 'alloy' },
  transcription: {},
};

function askOf({ call, isStream, members }: AnswerFile, model: string): string | FormData {
  const stream = isStream ? (call === 'speech' ? { stream_format: 'sse' } : { stream: true }) : {};
  const body = { model, ...ASKS[call], ...stream, ...members };
  if (call !== 'transcription') return JSON.stringify(body);
  const form = new FormData();
  form.append('file', new Blob([silentWav(3)]), 'audio.wav');
  for (const [name, value] of Object.entries(body)) form.append(name, String(value));
  return form;
}

/** What the client got. */
interface Got {
  readonly status: number | undefined;
  readonly charge: string | undefined;
  /** The body, decoded as its head says. */
  readonly body: Buffer;
  readonly isWhole: boolean;
}

/** What a client gets whose connection breaks before an answer. */
const NOTHING: Got = { status: undefined, charge: undefined, body: Buffer.alloc(0), isWhole: false };

async function listen(message: IncomingMessage, begun: () => void): Promise<Got> {
  const chunks: Buffer[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  message.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    begun();
  });
  message.on('error', () => {});
  message.on('close', resolve);
  await promise;
  const { statusCode: status, headers } = message;
  const charge = headers['x-tollgate-charge'];
  return {
    status,
    charge: typeof charge === 'string' ? charge : undefined,
    body: decoded(Buffer.concat(chunks), headers['content-encoding']),
    isWhole: message.complete,
  };
}

const DECODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/** The bytes as clients read them that know these codings and ignore what is none. */
function decoded(bytes: Buffer, codings = ''): Buffer {
  return codings
    .split(/, */)
    .reduceRight((body, coding) => (body.length > 0 ? (DECODERS[coding]?.(body) ?? body) : body), bytes);
}

async function make(world: InProcessGateway, key: string, { file, way, begun }: Call): Promise<Got> {
  const encoded = new Response(askOf(file, `${file.name}${way}`));
  const bytes = Buffer.from(await encoded.arrayBuffer());
  const { promise, resolve } = Promise.withResolvers<IncomingMessage | undefined>();
  request(`${world.url}${file.path}`, {
    method: 'POST',
    agent: false,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': encoded.headers.get('content-type') ?? 'application/json',
      'content-length': bytes.length,
    },
  })
    .on('response', resolve)
    .on('error', () => resolve(undefined))
    .end(bytes);
  const answer = await promise;
  return answer ? await listen(answer, begun.resolve) : NOTHING;
}

/** Number of calls in flight. */
const AT_ONCE = 8;

/** Makes all calls. Resolves with what the clients got, and the ledger rows by model. */
async function runAll(t: Test): Promise<{ runs: Run[]; rows: ReadonlyMap<string, LedgerEntry> }> {
  const calls = FILES.flatMap((file) =>
    waysOf(file).map((way): Call => ({ file, way, begun: Promise.withResolvers() })),
  );
  const byModel = new Map(calls.map((one) => [one.file.name + one.way, one]));
  const provider = await startRawProvider((request) => {
    const found = byModel.get(request.model);
    if (!found) return plainAnswer(request);
    const { file, way, begun } = found;
    const whole = file.send === 'waits' && way !== '' ? 'chunked' : file.send;
    const send = way === '.bytes' ? 'bytes' : whole;
    return { head: file.head, body: file.coded, send, until: begun.promise };
  });
  t.teardown(() => provider.close());
  const world = await startGatewayInProcess(t, { config: { catalog: catalogOf(provider.url) } });
  const { key, accountId } = await world.account({ credits: 1_000_000 });

  const runs: Run[] = [];
  const work = async () => {
    for (let next = calls.shift(); next; next = calls.shift()) {
      runs.push({ ...next, got: await make(world, key, next) });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  await world.settled();
  const rows = await world.book.ledger({ accountId, limit: 2_000 });
  return { runs, rows: new Map(rows.map((row) => [row.model ?? '', row])) };
}

/** Credits that a usage costs at the prices of a file, rounded up once. */
function costOf(usage: Usage, prices: AnswerFile['prices']): Micro {
  let billionths = 0n;
  for (const [unit, price = 0] of Object.entries(prices)) {
    const { usage: dimension, per } = unitRow(unit as Unit);
    const thousandths = BigInt(Math.round((usage[dimension] ?? 0) * 1_000));
    billionths += thousandths * BigInt(Math.round((price * 1e12) / per));
  }
  return micro(Number((billionths + 999_999_999n) / 1_000_000_000n));
}

/** A row in the words of the files. Counts that may lie between two are written so if they do. */
function rowText(entry: LedgerEntry | undefined, { row, prices }: AnswerFile): string {
  if (!entry) return 'no row';
  const { usage, estimated, outcome } = entry;
  const credits = creditsString(micro(-entry.credits));
  const follows = row.charge === '?' && -entry.credits === costOf(usage, prices);
  const counts = Object.entries(row.usage ?? {}).map(([dimension, right]) => {
    const count = usage[dimension as keyof Usage] ?? 0;
    const isWithin = typeof right === 'object' && count >= right[0] && count <= right[1];
    return [dimension, isWithin ? right : count];
  });
  // An exact usage has no other counts that have a price.
  const others = Object.keys(prices)
    .map((unit) => unitRow(unit as Unit).usage)
    .filter((dimension) => !row.estimated && row.usage && !(dimension in row.usage) && usage[dimension])
    .map((dimension) => [dimension, usage[dimension]]);
  return lineOf({
    charge: follows ? '?' : credits,
    outcome: outcome ?? 'none',
    estimated,
    usage: row.usage && Object.fromEntries([...counts, ...others]),
  });
}

function lineOf({
  charge,
  outcome,
  estimated,
  usage,
}: Readonly<Record<keyof AnswerFile['row'], unknown>>): string {
  const words = [charge, outcome, ...(estimated ? ['estimated'] : [])];
  return [...words, ...(usage ? [JSON.stringify(usage)] : [])].join(' ');
}

/** The parts of a run that are compared with the file. */
interface Seen {
  readonly row: string;
  readonly upstream: string | undefined;
  readonly status: number | undefined;
  readonly ends: boolean;
  /** `x-tollgate-charge`. */
  readonly header: string | undefined;
  readonly body: string;
}

/** The parts that the file says are right. */
function rightOf({ file, way }: Run, entry: LedgerEntry | undefined): Seen {
  const header = creditsString(micro(-(entry?.credits ?? 0)));
  if (way === '.two' && file.second === 'asked') {
    const body = signsOfLife(file.body) + plainBody(file).toString('latin1');
    return { row: '', upstream: 'second', status: 200, ends: true, header, body };
  }
  const { client } = file;
  return {
    row: lineOf(file.row),
    upstream: 'first',
    status: client.body === 'any' ? 0 : (client.status ?? file.status),
    ends: client.body !== 'broken',
    header,
    body: typeof client.body === 'object' ? client.body.says : clientBody(file),
  };
}

function seenIn({ file, way, got }: Run, entry: LedgerEntry | undefined): Seen {
  const isOther = way === '.two' && file.second === 'asked';
  return {
    row: isOther && entry?.outcome === 'complete' ? '' : rowText(entry, file),
    upstream: entry?.upstream?.replace(/-.*/, ''),
    status: !isOther && file.client.body === 'any' ? 0 : got.status,
    ends: got.isWhole,
    header: got.charge ?? (needsHeader(file) ? 'none' : creditsString(micro(-(entry?.credits ?? 0)))),
    body: isOther ? got.body.toString('latin1') : seenBody(got.body, file),
  };
}

/** Only the whole JSON of a good answer is sure to have the header. */
function needsHeader({ isStream, head, body, row }: AnswerFile): boolean {
  const isJson = head.includes('application/json') && body[0] === 0x7b;
  return !isStream && isJson && row.outcome === 'complete';
}

/** Events with the blank line behind each. */
function eventsOf(body: Buffer): string[] {
  return body.toString('latin1').split(/(?<=\n\n)/);
}

/** What the client gets at once, though the call may go on at another target: comments, blank lines and pings. */
function signsOfLife(body: Buffer): string {
  return eventsOf(body)
    .filter((event) => event !== '\n')
    .filter(
      (event) => /^event: ping\n/.test(event) || event.split('\n').every((line) => /^(?::|$)/.test(line)),
    )
    .join('');
}

/** An event whose bytes may differ, as its JSON without its usage. */
function withoutUsage(event = ''): string {
  const { usage: _, ...others } = JSON.parse(event.replace(/^data: /, ''));
  return JSON.stringify(others);
}

/** The body that the client should get; empty if any is right. */
function clientBody({ client, body }: AnswerFile): string {
  if (client.body !== 'same') return '';
  if (!client.without) return body.toString('latin1');
  const { event, usageAlone } = client.without;
  const events = eventsOf(body);
  const [gone] = events.splice(event - 1, 1);
  if (usageAlone) events.splice(event - 1, 0, withoutUsage(gone));
  return events.join('');
}

function seenBody(body: Buffer, { client }: AnswerFile): string {
  const text = body.toString('latin1');
  if (typeof client.body === 'object') return text.includes(client.body.says) ? client.body.says : text;
  if (client.body !== 'same') return '';
  if (!client.without?.usageAlone) return text;
  const index = client.without.event - 1;
  // An event that has its usage still, and one that is no JSON, differ from what is right.
  return eventsOf(body)
    .map((event, at) => (at === index ? event.replace(/^data: /, '').trimEnd() : event))
    .join('');
}

test('the file names begin with a rule', async (t) => {
  t.same(
    FILES.map(({ name }) => name).filter((name) => !(name.slice(0, 2) in RULES)),
    [],
  );
});

test('odd answers', async (t) => {
  const { runs, rows } = await runAll(t);
  for (const file of FILES) {
    t.test(`${file.name}: ${file.what}`, async (t) => {
      for (const run of runs.filter((one) => one.file === file)) {
        const entry = rows.get(`${file.name}${run.way}`);
        t.same(seenIn(run, entry), rightOf(run, entry), WAYS[run.way]);
      }
    });
  }
});
