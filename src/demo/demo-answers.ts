import { createHash } from 'node:crypto';
import {
  type Answer,
  type AnswerOptions,
  createdAt,
  cut,
  type DemoRoute,
  failure,
  idOf,
  json,
  say,
  streamOf,
} from './answer.ts';
import { answerChat, completionBody, completionEvents, readChatRequest } from './chat.ts';
import { answerImages, answerTranscript } from './media-answers.ts';
import { messagesRoute, messageTokens } from './messages-route.ts';
import { count, type DemoRequest, fieldsOf, isObject, parseObject, tokensIn } from './read-request.ts';
import { compactRoute, inputTokensRoute, responsesRoute } from './responses-route.ts';
import { answerSpeech } from './speech.ts';
import { DemoVideos } from './videos.ts';

const MODELS = ['demo-chat', 'demo-image', 'demo-tts', 'demo-stt', 'demo-video'].map((id) => ({
  id,
  object: 'model',
  created: 0,
  owned_by: 'tollgate',
}));

/**
 * The demo provider's answers, in OpenAI's and Anthropic's formats, without AI. Answer and usage depend only on the
 * request (a token is four bytes), but for times and random ids; only videos have state. Serves the paths in ROUTES and MEDIA,
 * `/v1/videos` and below, and `GET /v1/models`.
 */
export class DemoAnswers {
  readonly #videos = new DemoVideos();

  answerTo(request: DemoRequest, options: AnswerOptions = {}): Answer | Promise<Answer> {
    const path = request.url.split('?', 1)[0] ?? '';
    if (request.method === 'GET' && path === '/v1/models') return json(200, { object: 'list', data: MODELS });
    const ofJob = this.#videos.answer(request.method, request.url);
    if (ofJob) return ofJob;
    if (request.method === 'POST' && path === '/v1/videos') {
      return mediaAnswer(request, options, (fields) => this.#videos.create(fields));
    }
    const media = request.method === 'POST' ? MEDIA[path] : undefined;
    if (media) return mediaAnswer(request, options, media);
    const route = request.method === 'POST' ? ROUTES.get(path) : undefined;
    if (!route) return failure(404, `The demo provider has no ${request.method} ${path}.`);
    const body = parseObject(request.body);
    const answer = typeof body?.model === 'string' ? route(body, request.body, options) : undefined;
    if (!answer)
      return failure(400, 'The demo provider needs a JSON object with model and what the path asks for.');
    return Array.isArray(answer) ? streamOf(answer) : json(200, answer);
  }
}

/**
 * `POST /v1/completions`. The prompt is a string, a list of strings, a list of token numbers, or a list of such lists.
 * Answers each prompt `n` times. Usage counts every prompt once and every answer; a token number is one token.
 */
const completionsRoute: DemoRoute = (json, body, options) => {
  const prompts = promptsOf(json.prompt);
  const choices = prompts.flatMap(({ text: prompt }) => {
    const { text, isCut } = say(prompt, count(json.max_tokens), options);
    const said = json.echo === true ? prompt + text : text;
    const choice = { text: said, logprobs: null, finish_reason: isCut ? 'length' : 'stop' };
    return Array.from({ length: count(json.n) ?? 1 }, () => ({ ...choice, tokens: tokensIn(text) }));
  });
  const promptTokens = prompts.reduce((sum, { tokens }) => sum + tokens, 0);
  const completionTokens = choices.reduce((sum, { tokens }) => sum + tokens, 0);
  const usage = options.usage ?? {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
  const head = {
    id: idOf('cmpl-', body),
    object: 'text_completion',
    created: createdAt(options),
    model: json.model,
  };
  if (json.stream !== true) {
    const shown = choices.map(({ tokens: _, ...choice }, index) => ({ index, ...choice }));
    return { ...head, choices: shown, ...(usage ? { usage } : {}) };
  }
  const asked = isObject(json.stream_options) && json.stream_options.include_usage === true;
  const event = (parts: unknown[], reported: unknown) =>
    `data: ${JSON.stringify({ ...head, choices: parts, ...(asked ? { usage: reported } : {}) })}\n\n`;
  return [
    ...choices.flatMap(({ text, finish_reason }, index) => [
      ...cut(text, options.chunks).map((piece) =>
        event([{ index, text: piece, logprobs: null, finish_reason: null }], null),
      ),
      event([{ index, text: '', logprobs: null, finish_reason }], null),
    ]),
    ...(asked && usage ? [event([], usage)] : []),
    'data: [DONE]\n\n',
  ];
};

/** Prompts in the value of `prompt` or `input`, with their token counts. */
function promptsOf(value: unknown): { text: string; tokens: number }[] {
  if (typeof value === 'string') return [{ text: value, tokens: tokensIn(value) }];
  if (!Array.isArray(value) || value.length === 0) return [{ text: '', tokens: 0 }];
  if (typeof value[0] === 'number') return [{ text: '', tokens: value.length }];
  return value.map((prompt: unknown) =>
    typeof prompt === 'string'
      ? { text: prompt, tokens: tokensIn(prompt) }
      : { text: '', tokens: Array.isArray(prompt) ? prompt.length : 0 },
  );
}

/**
 * `POST /v1/embeddings`: numbers from -1 to 1 derived from the text, as floats or as base64 of 32-bit floats, which
 * OpenAI's client requests.
 */
const embeddingsRoute: DemoRoute = (json, _body, options) => {
  const inputs = promptsOf(json.input);
  const length = typeof json.dimensions === 'number' ? Math.min(json.dimensions, 4_096) : DIMENSIONS;
  const tokens = inputs.reduce((sum, input) => sum + input.tokens, 0);
  const usage = options.usage ?? { prompt_tokens: tokens, total_tokens: tokens };
  const data = inputs.map(({ text }, index) => {
    const hash = createHash('sha256').update(text).digest();
    const numbers = Float32Array.from({ length }, (_, at) => ((hash[at % hash.length] ?? 0) - 127.5) / 127.5);
    const embedding =
      json.encoding_format === 'base64' ? Buffer.from(numbers.buffer).toString('base64') : [...numbers];
    return { object: 'embedding', index, embedding };
  });
  return { object: 'list', data, model: json.model, ...(usage ? { usage } : {}) };
};

/** `POST /v1/moderations`: flags only the word "kill". */
const moderationsRoute: DemoRoute = (json, body) => ({
  id: idOf('modr-', body),
  model: json.model,
  results: promptsOf(json.input).map(({ text }) => {
    const violence = FLAGGED.test(text);
    return { flagged: violence, categories: { violence }, category_scores: { violence: violence ? 1 : 0 } };
  }),
});

/** `POST /v1/messages/count_tokens`. */
const countTokensRoute: DemoRoute = (json) => {
  const tokens = messageTokens(json);
  return tokens === undefined ? undefined : { input_tokens: tokens };
};

const chatRoute: DemoRoute = (_json, body, options) => {
  const chat = readChatRequest(body);
  if (!chat) return undefined;
  const answer = answerChat(chat, body, options);
  return chat.stream ? completionEvents(answer, chat.includeUsage, options.chunks) : completionBody(answer);
};

const ROUTES: ReadonlyMap<string, DemoRoute> = new Map([
  ['/v1/chat/completions', chatRoute],
  ['/v1/completions', completionsRoute],
  ['/v1/responses', responsesRoute],
  ['/v1/responses/compact', compactRoute],
  ['/v1/responses/input_tokens', inputTokensRoute],
  ['/v1/embeddings', embeddingsRoute],
  ['/v1/moderations', moderationsRoute],
  ['/v1/messages', messagesRoute],
  ['/v1/messages/count_tokens', countTokensRoute],
]);
type MediaAnswer = (fields: Record<string, unknown>, options: AnswerOptions) => Answer;

const MEDIA: Readonly<Record<string, MediaAnswer>> = {
  '/v1/images/generations': (fields, options) => answerImages(fields, 'image_generation', options),
  '/v1/images/edits': (fields, options) => answerImages(fields, 'image_edit', options),
  '/v1/images/variations': (fields, options) => answerImages(fields, 'image_edit', options),
  '/v1/audio/speech': answerSpeech,
  '/v1/audio/transcriptions': answerTranscript,
  '/v1/audio/translations': answerTranscript,
};

async function mediaAnswer(
  request: DemoRequest,
  options: AnswerOptions,
  answer: MediaAnswer,
): Promise<Answer> {
  const fields = await fieldsOf(request);
  if (typeof fields?.model !== 'string') {
    return failure(400, 'The demo provider needs a JSON object or a form with a model.');
  }
  return answer(fields, options);
}

/** Default length of an embedding; `dimensions` overrides it. */
const DIMENSIONS = 8;
/** Flags texts with this word as violent. */
const FLAGGED = /\bkill\b/i;
