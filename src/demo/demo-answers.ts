import { type Answer, type AnswerOptions, failure, json } from './answer.ts';
import { answerChat, completionBody, completionEvents } from './chat-answer.ts';
import { parseObject, readChatRequest } from './chat-request.ts';
import { completionsRoute } from './completions-route.ts';
import { fieldsOf } from './fields.ts';
import { answerImages } from './image-answer.ts';
import type { DemoRequest } from './listen.ts';
import { messagesRoute } from './messages-route.ts';
import { countTokensRoute, embeddingsRoute, moderationsRoute } from './plain-routes.ts';
import { responsesRoute } from './responses-route.ts';
import type { DemoRoute } from './route.ts';
import { answerSpeech } from './speech-answer.ts';
import { answerTranscript } from './transcript-answer.ts';
import { DemoVideos } from './videos.ts';

const MODELS = ['demo-chat', 'demo-image', 'demo-tts', 'demo-stt', 'demo-video'].map((id) => ({
  id,
  object: 'model',
  created: 0,
  owned_by: 'tollgate',
}));

/**
 * The demo provider's answers, in OpenAI's and Anthropic's formats, with no AI behind them. An answer and its usage
 * depend on the request alone, byte for byte (a token is four bytes); only videos have a state. Paths are those in
 * ROUTES and MEDIA, `/v1/videos` and below, and `GET /v1/models`.
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
    if (!Array.isArray(answer)) return json(200, answer);
    return {
      status: 200,
      headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
      pieces: answer,
    };
  }
}

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
