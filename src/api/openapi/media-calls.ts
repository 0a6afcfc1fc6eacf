import type { JsonSchema } from './json-type.ts';
import { count, events, json, modelCall, STREAM } from './model-call.ts';
import type { Media, Operation } from './operation.ts';

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
  description: 'Passes the form on byte for byte.',
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
  description: 'Passes the form on byte for byte.',
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
    'Charged by the second, as reported by the provider, else as measured. Passes the form on byte for byte.',
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
