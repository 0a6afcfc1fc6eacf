import type { EndpointPath } from '../../gateway/endpoints.ts';

/** Names and an example of a forwarded call. All other facts are in its row of ENDPOINTS. */
export interface CallDocs {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** Page of the vendor's reference. */
  readonly reference: string;
  /** It can answer with an event stream. */
  readonly streams?: true;
  /** A request for a demo model, which gets a successful answer. */
  readonly request: Readonly<Record<string, unknown>>;
}

const MESSAGES = [{ role: 'user', content: 'Hello!' }];

export const CALL_DOCS: Readonly<Record<EndpointPath, CallDocs>> = {
  '/v1/chat/completions': {
    operationId: 'createChatCompletion',
    summary: 'Chat completion',
    reference: 'chat/create',
    streams: true,
    request: { model: 'demo-chat', messages: MESSAGES, max_tokens: 100 },
  },
  '/v1/completions': {
    operationId: 'createCompletion',
    summary: 'Text completion',
    reference: 'completions/create',
    streams: true,
    request: { model: 'demo-chat', prompt: 'Once upon a time', max_tokens: 50 },
  },
  '/v1/responses': {
    operationId: 'createResponse',
    summary: 'Response',
    description:
      'You can refer to a response, an item or a container that this account created. Conversations, prompts, files ' +
      'and vector stores belong to no account here.',
    reference: 'responses/create',
    streams: true,
    request: { model: 'demo-chat', input: 'Hello!', max_output_tokens: 100 },
  },
  '/v1/responses/compact': {
    operationId: 'compactResponse',
    summary: 'Compact a conversation',
    description: 'Charged by token, like a response.',
    reference: 'responses/compact',
    request: { model: 'demo-chat', input: 'Hello!' },
  },
  '/v1/responses/input_tokens': {
    operationId: 'countInputTokens',
    summary: 'Count the input tokens of a response',
    reference: 'responses/input-tokens',
    request: { model: 'demo-chat', input: 'Hello!' },
  },
  '/v1/embeddings': {
    operationId: 'createEmbedding',
    summary: 'Embeddings',
    reference: 'embeddings/create',
    request: { model: 'demo-embedding', input: 'The quick brown fox' },
  },
  '/v1/moderations': {
    operationId: 'createModeration',
    summary: 'Moderation',
    reference: 'moderations/create',
    request: { model: 'demo-moderation', input: 'Have a nice day.' },
  },
  '/v1/messages': {
    operationId: 'createMessage',
    summary: 'Message',
    description:
      'You can refer to a container, or a file that code created in one, if this account created it.',
    reference: 'messages',
    streams: true,
    request: { model: 'demo-claude', messages: MESSAGES, max_tokens: 100 },
  },
  '/v1/messages/count_tokens': {
    operationId: 'countMessageTokens',
    summary: 'Count the tokens of a message',
    reference: 'messages-count-tokens',
    request: { model: 'demo-claude', messages: MESSAGES },
  },
  '/v1/images/generations': {
    operationId: 'createImage',
    summary: 'Generate images',
    reference: 'images/create',
    streams: true,
    request: { model: 'demo-image', prompt: 'A quick brown fox', n: 1 },
  },
  '/v1/images/edits': {
    operationId: 'editImage',
    summary: 'Edit images',
    reference: 'images/createEdit',
    streams: true,
    request: { model: 'demo-image', prompt: 'Make it red', image: '(the picture)' },
  },
  '/v1/images/variations': {
    operationId: 'varyImage',
    summary: 'Create image variations',
    reference: 'images/createVariation',
    request: { model: 'demo-image', image: '(the picture)' },
  },
  '/v1/audio/speech': {
    operationId: 'createSpeech',
    summary: 'Generate speech',
    reference: 'audio/createSpeech',
    streams: true,
    request: { model: 'demo-tts', input: 'Hello!', voice: 'alloy' },
  },
  '/v1/audio/transcriptions': {
    operationId: 'createTranscription',
    summary: 'Transcribe',
    reference: 'audio/createTranscription',
    streams: true,
    request: { model: 'demo-stt', file: '(the sound)' },
  },
  '/v1/audio/translations': {
    operationId: 'createTranslation',
    summary: 'Translate speech into English',
    reference: 'audio/createTranslation',
    request: { model: 'demo-stt', file: '(the sound)' },
  },
  '/v1/videos': {
    operationId: 'createVideo',
    summary: 'Create a video',
    description:
      'Starts a job, charged by the second when the provider accepts it, and refunded once if the provider reports that ' +
      'it failed. Characters and files of the provider belong to no account here, so you cannot refer to them.',
    reference: 'videos/create',
    request: { model: 'demo-video', prompt: 'A quick brown fox', seconds: '4' },
  },
};
