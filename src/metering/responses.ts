import type { Terms } from '../domain/bill.ts';
import type { Model } from '../domain/catalog.ts';
import type { Usage } from '../domain/units.ts';
import { contentParts, readable } from './content-parts.ts';
import { encryptedBytes, tokensOfEncrypted } from './hidden-reasoning.ts';
import type { Shape } from './json-sieve.ts';
import { asText, isObject } from './json-value.ts';
import { type Meter, type StreamMeter, saysError, type Verdict } from './meter.ts';
import type { MeteredBody } from './metered-body.ts';
import { responsesToUsage } from './openai-usage.ts';
import { OutputTextCollector, outputTextIn } from './output-text.ts';
import { askResponses } from './request/ask-responses.ts';
import { asksLongCache } from './request/cache-life.ts';
import { openaiTerms } from './service-tiers.ts';
import { eventData, eventName, saysFailed } from './sse/event.ts';
import type { CountTokens } from './tokens/token-counter.ts';
import { reportedBy } from './usage.ts';
import { isSearch, reportedSearches, withSearchesOf } from './web-searches.ts';

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
  terms: (answer, { model }) => openaiTerms(answer, model.price),
  mergeReported: (estimate, answer, body) => withSearchesOf(body, estimate, searchesOf(answer)),
  outputText: responsesOutputText,
  failed: (answer) => saysError(answer) || (isObject(answer) && answer.status === 'failed'),
  resourceIds: responsesResourceIds,
  stream: (_injectedUsage, body) => new ResponsesStream(body),
  estimate: estimateResponse,
};

async function estimateResponse(
  body: MeteredBody,
  outputText: string,
  count: CountTokens,
  storedTokens: number,
  boundOfMedia?: number,
): Promise<Usage> {
  const { input, instructions, tools } = body.value;
  const { text, mediaTokens } = readable(contentParts(input));
  const said = [typeof input === 'string' ? input : text, asText(instructions), asText(tools)];
  const [inputTokens, output] = await Promise.all([count(said.join('\n')), count(outputText)]);
  const turns = Array.isArray(input) ? input.length : 1;
  const media = boundOfMedia ?? mediaTokens;
  return { input: inputTokens + turns * TURN_TOKENS + media + storedTokens, output };
}

/** Searches of a response: as it reports them, else those among its items. `seen`: those among items that came before. */
function searchesOf(response: unknown, seen = 0): number {
  // A provider may leave out the items that it has sent.
  return reportedSearches(response) ?? Math.max(seen, itemsOf(response).filter(isSearch).length);
}

/** The usage of a whole response, its searches included. */
function responseUsage(response: unknown, body: MeteredBody): Usage | undefined {
  const usage = usageReportedBy(response, body);
  return usage && withSearchesOf(body, usage, searchesOf(response));
}

/** The parts of a request that its answer is read by. */
interface PricedRequest extends Pick<MeteredBody, 'said'> {
  readonly model: Pick<Model, 'price'>;
}

/** The usage that a response reports, without its searches. */
function usageReportedBy(response: unknown, body: PricedRequest): Usage | undefined {
  return responsesToUsage(reportedBy(response), body.model.price, 'output', () => asksLongCache(body));
}

/** Reads a stream of `/v1/responses` as it passes. */
export class ResponsesStream implements StreamMeter {
  readonly #body: PricedRequest;
  readonly #outputText = new OutputTextCollector();
  /** Pieces of output text when the last item began. */
  #piecesBefore = 0;
  #usage: Usage | undefined;
  #terms: Terms = {};
  /** Searches that are done, as far as items have come. */
  #searches = 0;
  #failed = false;
  #encryptedBytes = 0;
  #resourceIds: readonly string[] = [];

  constructor(body: PricedRequest) {
    this.#body = body;
  }

  get usage(): Usage | undefined {
    return this.#usage && withSearchesOf(this.#body, this.#usage, this.#searches);
  }

  /** Terms of the last event, because the first events have those that were asked for. */
  get terms(): Terms {
    return this.#terms;
  }

  get failed(): boolean {
    return this.#failed;
  }

  /** Always false, because `isWhole` is read before the event that ends the answer only. */
  readonly isWhole = false;

  get hiddenTokens(): number {
    return tokensOfEncrypted(this.#encryptedBytes);
  }

  get pieces(): number {
    return this.#outputText.pieces;
  }

  get kept(): Shape {
    const action = { type: 'all' } as const;
    const kept = {
      id: 'all',
      store: 'all',
      error: 'all',
      usage: 'all',
      tool_usage: 'all',
      service_tier: 'all',
    } as const;
    const response = { ...kept, output: [{ type: 'all', id: 'all', container_id: 'all', action }] } as const;
    return { type: 'all', error: 'all', delta: this.#outputText, item: { type: 'all', action }, response };
  }

  /**
   * Adds to an estimate what is known before the end, where no usage is reported yet: the searches, and the length of a
   * very long answer.
   */
  mergeReported(estimate: Usage): Usage {
    return withSearchesOf(this.#body, this.#outputText.scaled(estimate), this.#searches);
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
    this.#usage = usageReportedBy(response, this.#body);
    this.#terms = openaiTerms(response, this.#body.model.price);
    this.#searches = searchesOf(response, this.#searches);
    this.#resourceIds = responsesResourceIds(response);
    this.#failed = name === 'response.failed';
    // A provider may send neither deltas nor usage.
    if (!this.#usage && this.#outputText.pieces === 0) this.#outputText.collectValue(asText(output));
    return 'end';
  }

  /** Reads events that are no deltas: arguments of a tool without deltas come in the whole item only. */
  #item(name: string, event: string): void {
    if (name === 'response.output_item.added') this.#piecesBefore = this.#outputText.pieces;
    if (name !== 'response.output_item.done') return;
    if (event.includes('encrypted')) this.#encryptedBytes += encryptedBytes(eventData(event)?.item);
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
