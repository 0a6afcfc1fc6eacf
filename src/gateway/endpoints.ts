import { type Model, modelIn, type WireFormat } from '../domain/catalog.ts';
import type { Category } from '../domain/key.ts';
import { CHAT, chat } from '../metering/chat.ts';
import { COMPLETIONS, completions } from '../metering/completions.ts';
import { EMBEDDINGS, embeddings } from '../metering/embeddings.ts';
import { IMAGES, images } from '../metering/images.ts';
import type { Members } from '../metering/members.ts';
import { MESSAGES, messages } from '../metering/messages.ts';
import type { Meter } from '../metering/meter.ts';
import { perRequest } from '../metering/plain-plan.ts';
import { RESPONSES, responses } from '../metering/responses.ts';
import { SPEECH, speech } from '../metering/speech.ts';
import { TRANSCRIPTION, transcription } from '../metering/transcription.ts';
import { VIDEOS, videos } from '../metering/videos.ts';

/**
 * How to read the body of a call, whatever its content type. `audio`: a form with one file, whose length is measured;
 * `either`: a form if the content type says so, else JSON.
 */
type BodyKind = 'json' | 'form' | 'audio' | 'either';

/** Whether an endpoint takes calls of a model. */
export function serves(endpoint: Pick<Endpoint, 'category' | 'format'>, model: Model): boolean {
  return endpoint.category === model.category && modelIn(model, endpoint.format) !== undefined;
}

/** A forwarded endpoint of specification section 4. A new one is a row here and one in api/openapi/call-docs.ts. */
export interface Endpoint {
  readonly method: 'POST';
  readonly path: string;
  readonly category: Category;
  /** Wire format of its upstreams and of its errors. */
  readonly format: WireFormat;
  readonly body: BodyKind;
  /** Members of its requests. Absent if a call costs only the `request` price, whatever it contains. */
  readonly members?: Members;
  /** Bounds the cost of a call and reads its usage from the answer. */
  readonly meter: Meter;
  /** Streams report usage only if `stream_options.include_usage` asks for it. */
  readonly asksForUsage: boolean;
  /** A successful answer is bytes, such as audio, which pass through unread. */
  readonly answersBytes?: true;
  /** It counts tokens without running a model, and takes nothing from per-minute limits (specification section 11). */
  readonly isCounting?: true;
  /** Azure's clients call it with the model in the address (deployments.ts). */
  readonly hasDeployments?: true;
  /** A successful answer is a job with a later outcome (routes.ts). */
  readonly makesJob?: true;
}

const OPENAI = { method: 'POST', category: 'text', format: 'openai', body: 'json' } as const;
const IMAGE = { ...OPENAI, category: 'image', meter: images, members: IMAGES, asksForUsage: false } as const;
const AUDIO = {
  ...OPENAI,
  category: 'stt',
  body: 'audio',
  meter: transcription,
  members: TRANSCRIPTION,
  asksForUsage: false,
} as const;
const ANTHROPIC = { ...OPENAI, format: 'anthropic', asksForUsage: false } as const;
/** Of the routes of the AzureOpenAI client of the openai package, 6.49. */
const AZURE = { hasDeployments: true } as const;

const ROWS = [
  { ...OPENAI, path: '/v1/chat/completions', meter: chat, members: CHAT, asksForUsage: true, ...AZURE },
  {
    ...OPENAI,
    path: '/v1/completions',
    meter: completions,
    members: COMPLETIONS,
    asksForUsage: true,
    ...AZURE,
  },
  { ...OPENAI, path: '/v1/responses', meter: responses, members: RESPONSES, asksForUsage: false },
  { ...OPENAI, path: '/v1/responses/compact', meter: responses, members: RESPONSES, asksForUsage: false },
  { ...OPENAI, path: '/v1/responses/input_tokens', meter: perRequest, asksForUsage: false, isCounting: true },
  {
    ...OPENAI,
    path: '/v1/embeddings',
    meter: embeddings,
    members: EMBEDDINGS,
    asksForUsage: false,
    ...AZURE,
  },
  { ...OPENAI, path: '/v1/moderations', meter: perRequest, asksForUsage: false },
  { ...ANTHROPIC, path: '/v1/messages', meter: messages, members: MESSAGES },
  { ...ANTHROPIC, path: '/v1/messages/count_tokens', meter: perRequest, isCounting: true },
  { ...IMAGE, path: '/v1/images/generations', body: 'json', ...AZURE },
  { ...IMAGE, path: '/v1/images/edits', body: 'form', ...AZURE },
  { ...IMAGE, path: '/v1/images/variations', body: 'form' },
  {
    ...OPENAI,
    path: '/v1/audio/speech',
    category: 'tts',
    meter: speech,
    members: SPEECH,
    asksForUsage: false,
    answersBytes: true,
    ...AZURE,
  },
  { ...AUDIO, path: '/v1/audio/transcriptions', ...AZURE },
  { ...AUDIO, path: '/v1/audio/translations', ...AZURE },
  {
    ...OPENAI,
    path: '/v1/videos',
    category: 'video',
    body: 'either',
    meter: videos,
    members: VIDEOS,
    asksForUsage: false,
    makesJob: true,
  },
] as const satisfies readonly Endpoint[];

/** Path of an endpoint. Tables by path, such as that of the examples, don't compile without one of them. */
export type EndpointPath = (typeof ROWS)[number]['path'];

export const ENDPOINTS: readonly (Endpoint & { readonly path: EndpointPath })[] = ROWS;
