import { MEDIA_OPERATIONS } from './media-calls.ts';
import { MESSAGE_OPERATIONS } from './message-calls.ts';
import { MODEL_LIST_OPERATIONS } from './model-list.ts';
import type { Operation } from './operation.ts';
import { TEXT_OPERATIONS } from './text-calls.ts';
import { VIDEO_OPERATIONS } from './video-calls.ts';

/**
 * Operations of all routes under /v1, by `METHOD path`. They stand here because the routes have no schemas: their
 * bodies are the providers' own, and the gateway reads only the properties described here.
 */
export const MODEL_OPERATIONS: Readonly<Record<string, Operation>> = {
  ...MODEL_LIST_OPERATIONS,
  ...TEXT_OPERATIONS,
  ...MESSAGE_OPERATIONS,
  ...MEDIA_OPERATIONS,
  ...VIDEO_OPERATIONS,
};
