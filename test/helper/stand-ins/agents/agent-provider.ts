import {
  type Behavior,
  type ReceivedRequest,
  type ScriptedProvider,
  startScriptedProvider,
} from '../scripted-provider.ts';
import { failureOf, type How, Mortality, OVERLOADED, UNREADABLE } from './mortality.ts';
import { answerOf, type Count, type Format } from './turn.ts';

const FORMATS: Readonly<Record<string, Format>> = {
  '/v1/chat/completions': 'chat',
  '/v1/responses': 'responses',
  '/v1/messages': 'messages',
};

/** A call that reached the provider, and its count. Null if it counts nothing: it failed, or only counted tokens. */
export interface CountedCall {
  readonly path: string;
  readonly isStream: boolean;
  /** The answer is a compaction of the conversation. */
  readonly isCompaction: boolean;
  readonly count: Count | null;
  readonly ended: Promise<unknown>;
}

/** An answer of a place. */
export interface Try {
  readonly place: number;
  readonly status: number;
  /** False for a place that has died. */
  readonly isAnswer: boolean;
  readonly model: unknown;
}

export interface AgentProvider extends ScriptedProvider {
  /** Addresses of its places; `url` is the first. */
  readonly urls: readonly string[];
  /** Calls since `begin`, without those that failed at a dead place. */
  readonly calls: readonly CountedCall[];
  /** Answers of the places since `begin`. */
  readonly tries: readonly Try[];
  /**
   * Parts of earlier answers in requests since `begin`: encrypted reasoning, or references to items that a place
   * stores.
   */
  readonly sentBack: ReadonlySet<'encrypted' | 'reference'>;
  /** Forgets the calls. From now on, the provider behaves as `how` says. */
  begin(how?: How): void;
}

/** Text at the end of a call, and text of a slow call. */
export const SAID = 'All is well, says the provider.';
export const SAID_SLOWLY = Array.from({ length: 60 }, (_, word) => `word${word}`).join(' ');
/** A request whose text contains this uses a tool that many times before the answer. */
const STEPS = /take (\d+) steps/i;

/**
 * Starts a provider whose model thinks and, if the request asks for steps, uses a tool of the client step by step. It
 * reads and writes caches, and answers `compaction_trigger`. No two calls since `begin` have the same count of output.
 * The provider can have several places, each with its own address. No place can read the encrypted reasoning of
 * another.
 */
export async function startAgentProvider({ places = 1 } = {}): Promise<AgentProvider> {
  let calls: CountedCall[] = [];
  let tries: Try[] = [];
  let how: How = {};
  let sentBack = new Set<'encrypted' | 'reference'>();
  let mortality = new Mortality({});
  let turns = 0;
  const behave = (place: number, request: ReceivedRequest): Behavior | undefined => {
    const path = request.url.split('?', 1)[0] ?? '';
    const format = FORMATS[path];
    const body = format && (JSON.parse(request.body.toString()) as Json);
    const isStream = body?.stream === true;
    const answered = calls.filter(({ count }) => count).length;
    const makers = makersIn(request.body);
    if (makers.length > 0) sentBack.add('encrypted');
    if (request.body.includes('"type":"item_reference"')) sentBack.add('reference');
    const death = format && mortality.deathOf(place, answered);
    if (death) {
      const failure = failureOf(format, death, isStream);
      tries.push({ place, status: failure.status ?? 200, isAnswer: false, model: body?.model });
      return failure;
    }
    const fault =
      how.fault ??
      (mortality.isAway(place, makers.length) ? OVERLOADED : undefined) ??
      (makers.some((maker) => maker !== place) ? UNREADABLE : undefined);
    const next = body && !fault ? nextOf(body) : {};
    const count = format && !fault ? countOf(format, request, calls.length) : null;
    calls.push({ path, isStream, isCompaction: next.compaction !== undefined, count, ended: request.ended });
    tries.push({ place, status: fault?.status ?? 200, isAnswer: true, model: body?.model });
    if (fault) return fault;
    if (!body || !count) return undefined;
    const intervalMs = how.intervalMs ?? 0;
    const id = `${++turns}`;
    const turn = {
      id,
      model: body.model,
      thinking: 'A moment.',
      ...(how.deathsAfter ? {} : { encrypted: encryptedBy(place, id) }),
      text: intervalMs > 0 ? SAID_SLOWLY : SAID,
      ...next,
      count,
    };
    const isLast = mortality.goesAfter(place, answered + 1);
    if (isLast) void request.ended.then(() => servers[place]?.close());
    return {
      body: answerOf(format, turn, isStream, isObject(body.stream_options)),
      intervalMs,
      headers: {
        ...(isStream && { 'content-type': 'text/event-stream' }),
        // An open connection would carry one more call to a place that is gone.
        ...(isLast && { connection: 'close' }),
      },
    };
  };
  const servers = await Promise.all(
    Array.from({ length: places }, (_, place) =>
      startScriptedProvider({ behave: (request) => behave(place, request) }),
    ),
  );
  const [first] = servers as [ScriptedProvider];
  return {
    ...first,
    urls: servers.map(({ url }) => url),
    get calls() {
      return calls;
    },
    get tries() {
      return tries;
    },
    get sentBack() {
      return sentBack;
    },
    begin(next = {}) {
      calls = [];
      tries = [];
      sentBack = new Set();
      how = next;
      mortality = new Mortality(next);
    },
    async close() {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

/** Encrypted reasoning that names its maker. */
const encryptedBy = (place: number, id: string) => btoa(`Reasoning of place ${place}, turn ${id}.`);
const ENCRYPTED = /"encrypted_content":"([^"]+)"/g;

/** Places that made the encrypted reasoning of a request. */
function makersIn(body: Buffer): number[] {
  return [...body.toString().matchAll(ENCRYPTED)].flatMap(([, content = '']) => {
    const [, place] = /of place (\d+)/.exec(Buffer.from(content, 'base64').toString()) ?? [];
    return place === undefined ? [] : [Number(place)];
  });
}

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/**
 * Half of the input comes from the cache, if the format reports that. A token is eight bytes, so a hold always exceeds
 * it.
 */
function countOf(format: Format, { body }: ReceivedRequest, nth: number): Count {
  const half = Math.ceil(body.length / 16);
  const isWritten = format === 'messages';
  return {
    input: half,
    cachedInput: isWritten ? Math.floor(half / 2) : half,
    cacheWrite: isWritten ? Math.floor(half / 4) : 0,
    cacheWrite1h: isWritten ? Math.floor(half / 8) : 0,
    output: 10 + nth,
  };
}

/** The model's next turn in the conversation. */
function nextOf(body: Json): { use?: { name: string; input: Json }; compaction?: string } {
  const text = JSON.stringify(body.input ?? body.messages);
  const [, steps = '0'] = STEPS.exec(text) ?? [];
  const outputs =
    text.match(/"type":"(?:function_call_output|custom_tool_call_output|tool_result)"|"role":"tool"/g)
      ?.length ?? 0;
  const before = [...text.matchAll(ENCRYPTED)].map(
    ([, content = '']) => SUMMARY.exec(atob(content))?.[1] ?? 0,
  );
  const taken = outputs + Math.max(0, ...before.map(Number));
  if (text.includes('"type":"compaction_trigger"')) return { compaction: btoa(`${taken} steps are taken.`) };
  const tool = taken < Number(steps) ? toolOf(body.tools, `true ${taken}`) : undefined;
  return tool ? { use: tool } : {};
}

/** The conversation after a compaction. */
const SUMMARY = /^(\d+) steps are taken/;

/** Tools with which a model takes a step: `step` of the SDKs' drivers, and the shells of agents. */
const STEP_TOOLS =
  /^(step|bash|shell|shell_command|exec_command|run_commands?|execute_command|run_terminal_command)$/i;

/** The first tool that can take a step, with arguments that fit its schema. Agents give up if a command repeats. */
function toolOf(tools: unknown, command: string): { name: string; input: Json } | undefined {
  for (const tool of Array.isArray(tools) ? tools.filter(isObject) : []) {
    const described = isObject(tool.function) ? tool.function : tool;
    const { name } = described;
    const schema = described.parameters ?? described.input_schema;
    if (typeof name === 'string' && STEP_TOOLS.test(name) && isObject(schema))
      return { name, input: valueFor(schema, command) as Json };
  }
  return undefined;
}

/** A value of the schema with only its required members; every text is `text`. */
function valueFor(schema: unknown, text: string): unknown {
  if (!isObject(schema)) return text;
  const { type, properties, required, items, enum: values, anyOf } = schema;
  if (Array.isArray(values)) return values[0];
  if (Array.isArray(anyOf)) return valueFor(anyOf[0], text);
  const kind = Array.isArray(type) ? type[0] : type;
  if (kind === 'object' || isObject(properties)) {
    const fields = isObject(properties) ? properties : {};
    const names = Array.isArray(required) ? required.map(String) : [];
    return Object.fromEntries(names.map((name) => [name, valueFor(fields[name], text)]));
  }
  if (kind === 'array') return [valueFor(items, text)];
  if (kind === 'boolean') return false;
  return kind === 'integer' || kind === 'number' ? 1 : text;
}
