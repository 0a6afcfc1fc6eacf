import { isMisplacedBase } from './refuse.ts';

/** An API that clients ask for and that the gateway lacks. */
interface Lacking {
  readonly api: string;
  /** What to do instead. */
  readonly instead: string;
}

const GEMINI: Lacking = {
  api: "Gemini's API",
  instead: 'Call the model at POST /v1/chat/completions, in the format of OpenAI',
};

/** By the part of the path that follows the base URL. */
const LACKING: ReadonlyMap<string, Lacking> = new Map([
  ['files', { api: 'the Files API', instead: 'Send the content in the request itself' }],
  ['uploads', { api: 'the Uploads API', instead: 'Send the content in the request itself' }],
  ['batches', { api: 'the Batches API', instead: 'Send each request of the batch as a call' }],
  ['messages/batches', { api: 'the Batches API', instead: 'Send each request of the batch as a call' }],
  [
    'realtime',
    { api: 'the Realtime API', instead: 'Use POST /v1/responses or /v1/audio/speech, with "stream": true' },
  ],
  [
    'rerank',
    { api: 'reranking', instead: 'Compare embeddings of POST /v1/embeddings, or call the provider' },
  ],
]);

/** `/v1beta/models`, but not OpenAI's format below it. */
const GEMINI_BASE = /^(?:\/upload)?\/v1(?:alpha|beta)\d*\/(?!openai\/)/;
/** `/v1/models/<model>:generateContent`, also as Vertex has it. */
const GEMINI_METHOD = /\/models\/[^/]+:(?:stream|batch|async|count|embed|generate|predict|raw)[A-Za-z]*$/;
/** The base URL, then the part of the path that names the API. */
const NAMED = /^(.*?)\/(messages\/batches|files|uploads|batches|realtime|rerank)(?:\/.*)?$/;
const DEPLOYMENT = /^\/openai\/deployments\/.+$/;

/** Ends the sentence "There is no POST /v1/files here": what is not served, and what to do; undefined for other paths. */
export function whatIsNotServed(path: string): string | undefined {
  const lacking = lackingAt(path);
  return lacking && `: ${lacking.api} is not served by this gateway. ${lacking.instead}.`;
}

function lackingAt(path: string): Lacking | undefined {
  if (GEMINI_BASE.test(path) || GEMINI_METHOD.test(path)) return GEMINI;
  const [, base = '', named = ''] = NAMED.exec(path) ?? [];
  return isMisplacedBase(base) || DEPLOYMENT.test(base) ? LACKING.get(named) : undefined;
}
