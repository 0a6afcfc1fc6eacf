import type { Usage } from '../domain/usage.ts';
import { contentParts, readable } from './content-parts.ts';
import type { Shape } from './json-sieve.ts';
import { asText, isObject } from './json-value.ts';
import { type Meter, type StreamMeter, saysError, type Verdict } from './meter.ts';
import type { MeteredBody } from './metered-body.ts';
import { OutputTextCollector, outputTextIn } from './output-text.ts';
import { askResponses } from './request/ask-responses.ts';
import { eventData, eventName, saysFailed } from './sse/event.ts';
import type { CountTokens } from './tokens/token-counter.ts';
import { reportedBy, responsesToUsage } from './usage.ts';

const TURN_TOKENS = 4;
/** The events that end a stream; the response within carries the usage. */
const TERMINAL: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
]);
/** Deltas of sound, which is not text: `response.audio.delta`, `response.output_audio.delta`. */
const AUDIO = /audio\.delta$/;

/** `/v1/responses`. */
export const responses: Meter = {
  ask: askResponses,
  usage: (answer) => responsesToUsage(reportedBy(answer)),
  outputText: responsesOutputText,
  failed: (answer) => saysError(answer) || (isObject(answer) && answer.status === 'failed'),
  resourceIds: responsesResourceIds,
  stream: () => new ResponsesStream(),
  estimate: estimateResponse,
};

async function estimateResponse(
  body: MeteredBody,
  outputText: string,
  count: CountTokens,
  storedTokens: number,
): Promise<Usage> {
  const { input, instructions, tools } = body.value;
  const { text, mediaTokens } = readable(contentParts(input));
  const said = [typeof input === 'string' ? input : text, asText(instructions), asText(tools)];
  const [inputTokens, output] = await Promise.all([count(said.join('\n')), count(outputText)]);
  const turns = Array.isArray(input) ? input.length : 1;
  return { input: inputTokens + turns * TURN_TOKENS + mediaTokens + storedTokens, output };
}

/** Reads a stream of `/v1/responses` as it passes. */
export class ResponsesStream implements StreamMeter {
  readonly #outputText = new OutputTextCollector();
  /** Pieces of output text when the last item began. */
  #piecesBefore = 0;
  #isClosing = false;
  #usage: Usage | undefined;
  #failed = false;
  #resourceIds: readonly string[] = [];

  get usage(): Usage | undefined {
    return this.#usage;
  }

  get failed(): boolean {
    return this.#failed;
  }

  /** Always false, because `isWhole` is read before the event that ends the answer only. */
  readonly isWhole = false;

  get isClosing(): boolean {
    return this.#isClosing;
  }

  get pieces(): number {
    return this.#outputText.pieces;
  }

  get kept(): Shape {
    const item = { type: 'all', id: 'all', container_id: 'all' } as const;
    const response = { id: 'all', store: 'all', error: 'all', usage: 'all', output: [item] } as const;
    return { type: 'all', error: 'all', delta: this.#outputText, response };
  }

  /** Nothing is reported before the end; only the length of a very long answer is known better than the estimate. */
  mergeReported(estimate: Usage): Usage {
    return this.#outputText.scaled(estimate);
  }

  get resourceIds(): readonly string[] {
    return this.#resourceIds;
  }

  /** Text, refusals, reasoning and its summary, arguments and code for tools. */
  outputText(): string {
    return this.#outputText.toString();
  }

  event(event: string): Verdict {
    const name = eventName(event);
    if (name.endsWith('.delta')) {
      this.#isClosing = false;
      if (!AUDIO.test(name)) this.#outputText.collect(event, '"delta"');
      return 'pass';
    }
    if (saysFailed(event)) {
      this.#failed = true;
      return 'end';
    }
    if (!TERMINAL.has(name)) {
      this.#item(name, event);
      return 'pass';
    }
    const data = eventData(event);
    const response = isObject(data) ? data.response : undefined;
    const output = isObject(response) ? response.output : undefined;
    this.#usage = responsesToUsage(reportedBy(response));
    this.#resourceIds = responsesResourceIds(response);
    this.#failed = name === 'response.failed';
    // A provider may send neither deltas nor usage.
    if (!this.#usage && this.#outputText.pieces === 0) this.#outputText.collectValue(asText(output));
    return 'end';
  }

  /** Reads events that are no deltas: arguments of a tool without deltas come in the whole item only. */
  #item(name: string, event: string): void {
    this.#isClosing = name.endsWith('.done');
    if (name === 'response.output_item.added') this.#piecesBefore = this.#outputText.pieces;
    if (name !== 'response.output_item.done') return;
    if (this.#outputText.pieces === this.#piecesBefore) this.#outputText.collect(event, '"item"');
    this.#piecesBefore = this.#outputText.pieces;
  }
}

/** The output text of a whole response: texts, refusals, reasoning, names and arguments of tool calls. */
export function responsesOutputText(response: unknown): string {
  return itemsOf(response)
    .map((item) => outputTextIn(asText(item)))
    .join('');
}

/** Ids that the provider stores: the response's, its items', and those of containers that ran its tools. */
export function responsesResourceIds(response: unknown): string[] {
  // With `store: false` the provider stores nothing.
  if (!isObject(response) || response.store === false) return [];
  const ids = [response.id];
  for (const item of itemsOf(response)) {
    ids.push(item.id, item.container_id);
    if (isObject(item.environment)) ids.push(item.environment.container_id);
  }
  return [...new Set(ids.filter((id): id is string => typeof id === 'string' && id !== ''))];
}

function itemsOf(response: unknown): Record<string, unknown>[] {
  const output = isObject(response) ? response.output : undefined;
  return Array.isArray(output) ? output.filter(isObject) : [];
}
