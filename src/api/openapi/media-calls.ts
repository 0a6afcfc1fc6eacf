import type { JsonSchema } from './json-type.ts';
import { count, events, json, modelCall, PASSED_ON, STREAM } from './model-call.ts';
import { BY_KEY, JOB_REFUSALS, type Media, type Operation } from './operation.ts';

const REFERENCE = 'https://platform.openai.com/docs/api-reference';
const PROMPT: JsonSchema = {
  type: 'string',
  description: 'Description of the picture; counts if tokens are priced.',
};
const IMAGES = count('Number of images, each of which is charged. Default: 1.');

const file = (description: string): JsonSchema => ({
  type: 'string',
  format: 'binary',
  description,
});
const text = (schema: JsonSchema): JsonSchema => ({ ...schema, type: 'string' });

const PICTURES = {
  'application/json': json({
    created: 1795242083,
    data: [
      {
        b64_json:
          'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      },
    ],
  }),
} as const;
const STREAMED_PICTURES = {
  ...PICTURES,
  'text/event-stream': events(
    'event: image_generation.completed\ndata: {"type":"image_generation.completed","b64_json":"iVBORw0KGgo="}',
  ),
} as const;

const createImage = modelCall({
  operationId: 'createImage',
  summary: 'Generate images',
  description: 'Charged by image, or by token if the model has token prices.',
  reference: `${REFERENCE}/images/create`,
  required: ['prompt'],
  fields: { prompt: PROMPT, n: IMAGES, stream: STREAM },
  requests: { fox: { value: { model: 'demo-image', prompt: 'A quick brown fox', n: 1 } } },
  answers: STREAMED_PICTURES,
});

const editImage = modelCall({
  operationId: 'editImage',
  summary: 'Edit images',
  description: 'Passes the form on with the same parts.',
  reference: `${REFERENCE}/images/createEdit`,
  bodies: ['multipart/form-data'],
  required: ['image', 'prompt'],
  fields: {
    image: file('The picture to edit; several in fields `image[]`.'),
    mask: file('The area to edit.'),
    prompt: PROMPT,
    n: text({ pattern: '^\\d{1,16}$', description: 'Number of images. Default: 1.' }),
    stream: text({ description: 'true: streams the answer as `text/event-stream`.' }),
  },
  requests: { fox: { value: { model: 'demo-image', prompt: 'Make it red', image: '(the picture)' } } },
  answers: STREAMED_PICTURES,
});

const varyImage = modelCall({
  operationId: 'varyImage',
  summary: 'Create image variations',
  description: 'Passes the form on with the same parts.',
  reference: `${REFERENCE}/images/createVariation`,
  bodies: ['multipart/form-data'],
  required: ['image'],
  fields: {
    image: file('The picture to vary.'),
    n: text({ pattern: '^\\d{1,16}$', description: 'Number of images. Default: 1.' }),
  },
  requests: { fox: { value: { model: 'demo-image', image: '(the picture)' } } },
  answers: PICTURES,
});

const createSpeech = modelCall({
  operationId: 'createSpeech',
  summary: 'Generate speech',
  description: 'Charged by Unicode code point of `input`, or by token if the model has token prices.',
  reference: `${REFERENCE}/audio/createSpeech`,
  required: ['input'],
  fields: { input: { type: 'string', description: 'The text to speak.' } },
  requests: { hello: { value: { model: 'demo-tts', input: 'Hello!', voice: 'alloy' } } },
  answers: {
    'audio/*': { schema: { type: 'string', format: 'binary', description: 'The sound, as it comes.' } },
    'text/event-stream': events(
      'event: speech.audio.done\ndata: {"type":"speech.audio.done","usage":{"input_tokens":2,"output_tokens":1,"total_tokens":3}}',
    ),
  },
});

const PLAIN: Media = { schema: { type: 'string' }, examples: { answer: { value: 'Hello.\n' } } };
const TRANSCRIPTS = {
  'application/json': json({ text: 'Hello.', usage: { type: 'duration', seconds: 1 } }),
  'text/plain': PLAIN,
  'text/vtt': {
    schema: { type: 'string' },
    examples: { answer: { value: 'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nHello.\n' } },
  },
} as const;
const AUDIO = file('The audio, as the only file of the form. The gateway measures its length.');
const FORMAT = text({ description: '`json` (default), `verbose_json`, `text`, `srt` or `vtt`.' });

const createTranscription = modelCall({
  operationId: 'createTranscription',
  summary: 'Transcribe',
  description:
    'Charged by the second, as reported by the provider, else as measured. Passes the form on with the same parts.',
  reference: `${REFERENCE}/audio/createTranscription`,
  bodies: ['multipart/form-data'],
  required: ['file'],
  fields: {
    file: AUDIO,
    prompt: text({ description: 'A hint; counts if tokens are priced.' }),
    response_format: FORMAT,
    stream: text({ description: 'true: streams the answer as `text/event-stream`.' }),
  },
  requests: {
    plain: { summary: 'As text', value: { model: 'demo-stt', file: '(the sound)', response_format: 'text' } },
    json: { summary: 'As JSON', value: { model: 'demo-stt', file: '(the sound)' } },
  },
  answers: {
    ...TRANSCRIPTS,
    'text/event-stream': events(
      'event: transcript.text.done\ndata: {"type":"transcript.text.done","text":"Hello."}',
    ),
  },
});

const createTranslation = modelCall({
  operationId: 'createTranslation',
  summary: 'Translate speech into English',
  description: 'Costs as a transcription does.',
  reference: `${REFERENCE}/audio/createTranslation`,
  bodies: ['multipart/form-data'],
  required: ['file'],
  fields: { file: AUDIO, response_format: FORMAT },
  requests: { json: { value: { model: 'demo-stt', file: '(the sound)' } } },
  answers: TRANSCRIPTS,
});

export const MEDIA_OPERATIONS: Readonly<Record<string, Operation>> = {
  'POST /v1/images/generations': createImage,
  'POST /v1/images/edits': editImage,
  'POST /v1/images/variations': varyImage,
  'POST /v1/audio/speech': createSpeech,
  'POST /v1/audio/transcriptions': createTranscription,
  'POST /v1/audio/translations': createTranslation,
};

const VIDEO = {
  id: 'video_1',
  object: 'video',
  created_at: 1795242083,
  model: 'demo-video',
  status: 'queued',
  progress: 0,
  seconds: '4',
  size: '720x1280',
};

const createVideo = modelCall({
  operationId: 'createVideo',
  summary: 'Create a video',
  description:
    'Starts a job, charged by the second when the provider accepts it, and refunded once if the provider reports that ' +
    'it failed. Characters and files of the provider belong to no account here, so you cannot refer to them.',
  reference: `${REFERENCE}/videos/create`,
  bodies: ['application/json', 'multipart/form-data'],
  required: ['prompt'],
  fields: {
    prompt: { type: 'string', description: 'Description of the video.' },
    seconds: {
      type: ['string', 'integer', 'null'],
      pattern: '^\\d{1,4}$',
      minimum: 1,
      maximum: 3600,
      description: 'Length in whole seconds, from 1 to 3,600, which is held and charged. Default: 4.',
    },
    input_reference: {
      description: 'Picture to start from: a file of the form or a URL, not an id.',
    },
  },
  requests: { fox: { value: { model: 'demo-video', prompt: 'A quick brown fox', seconds: '4' } } },
  answers: { 'application/json': json(VIDEO) },
});

interface JobQuestion {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly reference: string;
  readonly content: Readonly<Record<string, Media>>;
  readonly parameters?: readonly Readonly<Record<string, unknown>>[];
}

/** Operation of a request about a job: forwarded, but not a model call. */
function ofJob(question: JobQuestion): Operation {
  return {
    operationId: question.operationId,
    tags: ['Models'],
    summary: question.summary,
    description: `${question.description} Costs nothing, but counts in limits of calls, except tokens. A video of another account gets 404.`,
    externalDocs: { description: "OpenAI's reference", url: `${REFERENCE}/videos/${question.reference}` },
    security: BY_KEY,
    parameters: [
      {
        in: 'path',
        name: 'id',
        required: true,
        description: '`id` of the job.',
        schema: { type: 'string' },
        example: VIDEO.id,
      },
      ...(question.parameters ?? []),
    ],
    responses: {
      200: { description: "The provider's answer.", content: { ...question.content } },
      ...PASSED_ON,
    },
    'x-docs': { refusals: JOB_REFUSALS },
  };
}

const readVideo = ofJob({
  operationId: 'readVideo',
  summary: 'Read the state of a video',
  description: 'If the answer reports that the job failed, the charge has been refunded.',
  reference: 'retrieve',
  content: { 'application/json': json({ ...VIDEO, status: 'completed', progress: 100 }) },
});

const deleteVideo = ofJob({
  operationId: 'deleteVideo',
  summary: 'Delete a video',
  description: 'Deletes the video at the provider. The charge stays, unless the job failed.',
  reference: 'delete',
  content: { 'application/json': json({ id: VIDEO.id, object: 'video.deleted', deleted: true }) },
});

const BYTES: Media = {
  schema: { type: 'string', format: 'binary', description: 'The video or picture.' },
};

const readVideoContent = ofJob({
  operationId: 'readVideoContent',
  summary: 'Download a video',
  description: 'Passes the content on as it arrives.',
  reference: 'content',
  parameters: [
    {
      in: 'query',
      name: 'variant',
      description: "What to download, in the provider's terms. Default: the video.",
      schema: { type: 'string' },
      example: 'thumbnail',
    },
  ],
  content: { 'video/*': BYTES, 'image/*': BYTES },
});

export const VIDEO_OPERATIONS: Readonly<Record<string, Operation>> = {
  'POST /v1/videos': createVideo,
  'GET /v1/videos/{id}': readVideo,
  'DELETE /v1/videos/{id}': deleteVideo,
  'GET /v1/videos/{id}/content': readVideoContent,
};
