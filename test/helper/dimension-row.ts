import type { Model, Upstream } from '../../src/domain/catalog.ts';
import type { Category } from '../../src/domain/key.ts';
import type { Unit, Usage } from '../../src/domain/units.ts';
import { creditPrice } from './credit-price.ts';
import { silentWav } from './media-gateway.ts';
import { CHOICES } from './vendor-answers.ts';

/**
 * Credits by unit, as a config file has them: every unit has one, and no two are alike. Those of tokens and characters are for
 * 1,000,000, that of searches is for 1,000, so that 2 is 2 micro-credits a token and 10 is 10,000 micro-credits a search.
 */
export const EVERY_PRICE: Readonly<Record<Unit, number>> = {
  input: 2,
  output: 8,
  cachedInput: 0.5,
  cacheWrite: 2.5,
  cacheWrite1h: 4,
  inputAudio: 32,
  cachedInputAudio: 0.4,
  outputAudio: 64,
  inputImage: 5,
  cachedInputImage: 1.25,
  outputImage: 40,
  webSearch: 10,
  webSearchPreview: 25,
  character: 15,
  image: 0.001,
  audioSecond: 0.0001,
  videoSecond: 0.1,
  request: 0.000007,
};
export const TIERS: Readonly<Record<string, number>> = { priority: 2, flex: 0.5, fast: 6, us: 1.1 };

/** The versions of the SDKs whose types the table names; a test compares them with those installed. */
export const SDKS = { openai: '7.55.0', '@anthropic-ai/sdk': '1.11.0' } as const;

/** An answer as its vendor documents it, what it comes to, and what it costs. */
export interface DimensionRow {
  readonly what: string;
  /** The vendor's type or page that the shape is from. */
  readonly from: string;
  readonly path: string;
  readonly model: 'text' | 'claude' | 'painter' | 'voice' | 'scribe';
  readonly body: Readonly<Record<string, unknown>>;
  readonly form?: () => FormData;
  readonly json?: Readonly<Record<string, unknown>>;
  readonly events?: readonly Readonly<Record<string, unknown>>[];
  /** Without the request itself. */
  readonly usage: Usage;
  readonly tiers?: readonly string[];
  readonly isEstimated?: true;
  /** Micro-credits, done by hand from EVERY_PRICE: tokens × price, which the tier multiplies. */
  readonly micros: number;
  /** Micro-credits of searches and pictures; the request's 7 are added by the test. */
  readonly fees?: number;
  readonly times?: number;
}

export const OPENAI = `openai ${SDKS.openai}`;
export const ANTHROPIC = `@anthropic-ai/sdk ${SDKS['@anthropic-ai/sdk']}`;
export const BETA = `${ANTHROPIC}, BetaUsage.iterations`;
export const SEARCH = { type: 'web_search_call', status: 'completed' };
export const ITERATION = { cache_creation: null, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
export const OWN = {
  ...ITERATION,
  type: 'message',
  model: 'claude-opus-5-5',
  input_tokens: 60,
  output_tokens: 30,
};
export const START = { ...ITERATION, input_tokens: 60, server_tool_use: null, service_tier: 'standard' };

type Common = Pick<DimensionRow, 'what' | 'usage' | 'micros'> &
  Partial<Pick<DimensionRow, 'fees' | 'tiers' | 'isEstimated' | 'times' | 'body' | 'from'>>;

export function chat(more: Common, usage: object, tier: string): DimensionRow {
  const head = { id: 'chatcmpl-B9MBs8', created: 1_741_569_952, model: 'gpt-5', service_tier: tier };
  const chunk = { ...head, object: 'chat.completion.chunk' };
  return {
    from: `${OPENAI}, CompletionUsage, ChatCompletion.service_tier, ChatCompletionChunk`,
    path: '/v1/chat/completions',
    model: 'text',
    json: {
      ...head,
      object: 'chat.completion',
      choices: CHOICES,
      usage,
    },
    events: [
      { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: '' } }], usage: null },
      { ...chunk, choices: [{ index: 0, delta: { content: 'Hello!' } }], usage: null },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: null },
      { ...chunk, choices: [], usage },
    ],
    tiers: [tier],
    ...more,
    body: { messages: [{ role: 'user', content: 'Hi' }], ...more.body },
  };
}

export function response(
  more: Common,
  usage: object,
  tier: string,
  output: readonly object[] = [],
  beside: object = {},
): DimensionRow {
  const answer = { id: 'resp_67ccd2', object: 'response', status: 'completed', error: null };
  const text = { type: 'message', id: 'msg_1', content: [{ type: 'output_text', text: 'Hello!' }] };
  const items = [...output, text];
  const whole = { ...answer, output: items, usage, service_tier: tier, ...beside };
  return {
    from: `${OPENAI}, ResponseUsage, Response.service_tier, ResponseFunctionWebSearch`,
    path: '/v1/responses',
    model: 'text',
    json: whole,
    events: [
      {
        type: 'response.created',
        response: { ...answer, status: 'in_progress', output: [], usage: null, service_tier: 'auto' },
      },
      ...items.flatMap((item, index) => [
        { type: 'response.output_item.added', output_index: index, item },
        { type: 'response.output_item.done', output_index: index, item },
      ]),
      { type: 'response.completed', response: whole },
    ],
    tiers: [tier],
    ...more,
    body: { input: 'Hi', ...more.body },
  };
}

/** `start`: what `message_start` has of the usage, before the rest comes at the end. */
export function message(more: Common, start: Readonly<Record<string, unknown>>, end: object): DimensionRow {
  const head = { id: 'msg_013Zva', type: 'message', role: 'assistant', model: 'claude-opus-5-5' };
  return {
    from: `${ANTHROPIC}, Usage, MessageDeltaUsage, ServerToolUsage, CacheCreation`,
    path: '/v1/messages',
    model: 'claude',
    json: {
      ...head,
      content: [{ type: 'text', text: 'Hello!', citations: null }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { ...start, ...end },
    },
    events: [
      {
        type: 'message_start',
        message: { ...head, content: [], stop_reason: null, usage: { output_tokens: 1, ...start } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello!' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: end },
      { type: 'message_stop' },
    ],
    ...more,
    body: { max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }], ...more.body },
  };
}

export function picture(more: Common, json: object | undefined, event: object | undefined): DimensionRow {
  return {
    from: `${OPENAI}, ImagesResponse.Usage, ImageGenCompletedEvent.Usage`,
    path: '/v1/images/generations',
    model: 'painter',
    ...(json ? { json: { created: 1_713_833_628, data: [{ b64_json: 'iVBORw0KGgo=' }], usage: json } } : {}),
    ...(event
      ? { events: [{ type: 'image_generation.completed', b64_json: 'iVBORw0KGgo=', usage: event }] }
      : {}),
    ...more,
    body: { prompt: 'A cat', ...more.body },
  };
}

export function transcript(more: Common, usage: object): DimensionRow {
  return {
    from: `${OPENAI}, Transcription.Tokens, TranscriptionTextDoneEvent.Usage`,
    path: '/v1/audio/transcriptions',
    model: 'scribe',
    form: () => {
      const form = new FormData();
      form.append('file', new Blob([silentWav(2)]), 'audio.wav');
      return form;
    },
    json: { text: 'Imagine the wildest idea.', usage },
    events: [
      { type: 'transcript.text.delta', delta: 'Imagine the wildest idea.' },
      { type: 'transcript.text.done', text: 'Imagine the wildest idea.', usage },
    ],
    body: {},
    ...more,
  };
}

/** The models of the rows, at one upstream of each format. */
export function everyModel(url: string): Map<string, Model> {
  const price = creditPrice(EVERY_PRICE, TIERS);
  const upstream = { name: 'every', url, apiKey: 'upstream-secret', format: 'openai' } as const;
  const anthropic = { ...upstream, name: 'every-anthropic', format: 'anthropic' } as const;
  const models: readonly [DimensionRow['model'], Category, Upstream][] = [
    ['text', 'text', upstream],
    ['claude', 'text', anthropic],
    ['painter', 'image', upstream],
    ['voice', 'tts', upstream],
    ['scribe', 'stt', upstream],
  ];
  return new Map(
    models.map(([slug, category, at]) => [
      slug,
      {
        slug,
        upstream: at,
        upstreamModel: slug,
        category,
        maxOutputTokens: 1_000,
        price,
        priceSource: 'config',
      },
    ]),
  );
}

/** The events of a row as a provider sends them. */
export function eventTexts({ events = [], path }: DimensionRow): string[] {
  const isNamed = !/completions$/.test(path);
  const texts = events.map(
    (event) => `${isNamed ? `event: ${String(event.type)}\n` : ''}data: ${JSON.stringify(event)}\n\n`,
  );
  return isNamed ? texts : [...texts, 'data: [DONE]\n\n'];
}

/** What a row costs in micro-credits, the request included: rounded up once. `micros` has two decimals at most. */
export function microsOf({ micros, fees = 0, times = 1 }: DimensionRow): number {
  const multiplied = BigInt(Math.round(micros * 100)) * BigInt(Math.round(times * 10));
  const thousandths = multiplied + BigInt(fees + 7) * 1_000n;
  return Number((thousandths + 999n) / 1_000n);
}
