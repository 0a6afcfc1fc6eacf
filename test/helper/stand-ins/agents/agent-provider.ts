import {
  type Behaviour,
  type ReceivedRequest,
  type ScriptedProvider,
  startScriptedProvider,
} from '../scripted-provider.ts';
import { answerOf, type Count, type Format } from './turn.ts';

const FORMATS: Readonly<Record<string, Format>> = {
  '/v1/chat/completions': 'chat',
  '/v1/responses': 'responses',
  '/v1/messages': 'messages',
};

/** A call that reached the provider, and its count; null where it counts nothing: it failed, or only counted tokens. */
export interface CountedCall {
  readonly path: string;
  readonly isStream: boolean;
  readonly count: Count | null;
  readonly ended: Promise<unknown>;
}

/** An answer in place of the model's. */
export type Fault = Pick<Behaviour, 'status' | 'headers' | 'body'>;

export interface AgentProvider extends ScriptedProvider {
  /** Calls since `begin`. */
  readonly calls: readonly CountedCall[];
  /** Forgets the calls; from now on answers are as `how` says. */
  begin(how?: { readonly fault?: Fault | undefined; readonly intervalMs?: number | undefined }): void;
}

/** What the model says at the end of a call, and what it says of a call that is answered slowly. */
export const SAID = 'All is well, says the provider.';
export const SAID_SLOWLY = Array.from({ length: 60 }, (_, word) => `word${word}`).join(' ');
/** A request whose text has this uses a tool so many times before the answer. */
const STEPS = /take (\d+) steps/i;

/**
 * Starts a provider whose model thinks and, where the request asks for steps, uses a tool of the client's step by step. It reads
 * and writes caches, and answers `compaction_trigger`. No two calls since `begin` have the same count of output.
 */
export async function startAgentProvider(): Promise<AgentProvider> {
  let calls: CountedCall[] = [];
  let how: Parameters<AgentProvider['begin']>[0] = {};
  let turns = 0;
  const server = await startScriptedProvider({
    behave(request) {
      const path = request.url.split('?', 1)[0] ?? '';
      const format = FORMATS[path];
      const body = format && (JSON.parse(request.body.toString()) as Json);
      const fault = how?.fault;
      const count = format && !fault ? countOf(format, request, calls.length) : null;
      calls.push({ path, isStream: body?.stream === true, count, ended: request.ended });
      if (fault) return fault;
      if (!body || !count) return undefined;
      const intervalMs = how?.intervalMs ?? 0;
      const turn = {
        id: `${++turns}`,
        model: body.model,
        thinking: 'A moment.',
        text: intervalMs > 0 ? SAID_SLOWLY : SAID,
        ...nextOf(body),
        count,
      };
      const isStream = body.stream === true;
      const answer = answerOf(format, turn, isStream, isObject(body.stream_options));
      return {
        body: answer,
        intervalMs,
        headers: isStream ? { 'content-type': 'text/event-stream' } : {},
      };
    },
  });
  return {
    ...server,
    get calls() {
      return calls;
    },
    begin(next = {}) {
      calls = [];
      how = next;
    },
  };
}

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** Half of the input is from the cache, as far as a format tells; a token is eight bytes, so that a hold is above it. */
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

/** What the model does next in the conversation. */
function nextOf(body: Json): { use?: { name: string; input: Json }; compaction?: string } {
  const text = JSON.stringify(body.input ?? body.messages);
  if (text.includes('"type":"compaction_trigger"')) return { compaction: btoa('A summary.') };
  const [, steps = '0'] = STEPS.exec(text) ?? [];
  const taken = text.match(/"type":"function_call_output"|"role":"tool"|"type":"tool_result"/g)?.length ?? 0;
  const tool = taken < Number(steps) ? toolOf(body.tools, `true ${taken}`) : undefined;
  return tool ? { use: tool } : {};
}

/** Tools with which a model takes a step: `step` of the SDKs' drivers, and the shells of agents. */
const STEP_TOOLS =
  /^(step|bash|shell|shell_command|exec_command|run_commands?|execute_command|run_terminal_command)$/i;

/** The first tool that takes a step, with arguments that fit its schema. Agents give up where the same command comes again. */
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

/** A value of the schema with what is required and nothing else; every text is `text`. */
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
