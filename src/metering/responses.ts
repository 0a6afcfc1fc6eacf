import type { Price } from '../domain/catalog.ts';
import type { Usage } from '../domain/usage.ts';
import { contentParts, readable } from './content-parts.ts';
import type { Shape } from './json-sieve.ts';
import { asText, isObject } from './json-value.ts';
import { type Meter, type StreamMeter, saysError, type Verdict } from './meter.ts';
import type { MeteredBody } from './metered-body.ts';
import { responsesToUsage } from './openai-usage.ts';
import { OutputTextCollector, outputTextIn } from './output-text.ts';
import { askResponses } from './request/ask-responses.ts';
import { openaiTiers } from './service-tiers.ts';
import { eventData, eventName, saysFailed } from './sse/event.ts';
import type { CountTokens } from './tokens/token-counter.ts';
import { reportedBy } from './usage.ts';
import { isSearch, withSearches } from './web-searches.ts';

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
  usage: responseUsage,
  serviceTiers: (answer, { model }) => openaiTiers(answer, model.price),
  mergeReported: (estimate, answer) => withSearches(estimate, itemsOf(answer).filter(isSearch).length),
  outputText: responsesOutputText,
  failed: (answer) => saysError(answer) || (isObject(answer) && answer.status === 'failed'),
  resourceIds: responsesResourceIds,
  stream: (_injectedUsage, { model }) => new ResponsesStream(model.price),
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

/** The usage of a whole response, the searches among its items included. */
function responseUsage(
  response: unknown,
  { model: { price } }: Pick<MeteredBody, 'model'>,
): Usage | undefined {
  const usage = responsesToUsage(reportedBy(response), price);
  return usage && withSearches(usage, itemsOf(response).filter(isSearch).length);
}

/** Reads a stream of `/v1/responses` as it passes. */
export class ResponsesStream implements StreamMeter {
  readonly #price: Price;
  readonly #outputText = new OutputTextCollector();
  /** Pieces of output text when the last item began. */
  #piecesBefore = 0;
  #isClosing = false;
  #usage: Usage | undefined;
  #serviceTiers: readonly string[] | undefined;
  /** Searches that are done, as far as items have come. */
  #searches = 0;
  #failed = false;
  #resourceIds: readonly string[] = [];

  constructor(price: Price) {
    this.#price = price;
  }

  get usage(): Usage | undefined {
    return this.#usage && withSearches(this.#usage, this.#searches);
  }

  /** Service tiers of the last event, because the first events have those that were asked for. */
  get serviceTiers(): readonly string[] | undefined {
    return this.#serviceTiers;
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
    const action = { type: 'all' } as const;
    const kept = { id: 'all', store: 'all', error: 'all', usage: 'all', service_tier: 'all' } as const;
    const response = { ...kept, output: [{ type: 'all', id: 'all', container_id: 'all', action }] } as const;
    return { type: 'all', error: 'all', delta: this.#outputText, item: { type: 'all', action }, response };
  }

  /**
   * Adds to an estimate what is known before the end, where no usage is reported yet: the searches, and the length of a
   * very long answer.
   */
  mergeReported(estimate: Usage): Usage {
    return withSearches(this.#outputText.scaled(estimate), this.#searches);
  }

  get resourceIds(): readonly string[] {
    return this.#resourceIds;
  }

  /** The output text so far: text, refusals, reasoning and its summary, arguments and code for tools. */
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
    this.#usage = responsesToUsage(reportedBy(response), this.#price);
    this.#serviceTiers = openaiTiers(response, this.#price);
    // A provider may leave out the items that it has sent.
    this.#searches = Math.max(this.#searches, itemsOf(response).filter(isSearch).length);
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
    if (event.includes('web_search_call') && isSearch(eventData(event)?.item)) this.#searches++;
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
