import { json, modelCall, PASSED_ON } from './model-call.ts';
import { BY_KEY, type Media, type Operation } from './operation.ts';
import { JOB_REFUSALS } from './refusals.ts';

const REFERENCE = 'https://platform.openai.com/docs/api-reference/videos';
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
  reference: `${REFERENCE}/create`,
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

/** Operation of a request about a job, which is forwarded and is no model call. */
function ofJob(question: JobQuestion): Operation {
  return {
    operationId: question.operationId,
    tags: ['Models'],
    summary: question.summary,
    description: `${question.description} Costs nothing, but counts in limits of calls, except tokens. A video of another account gets 404.`,
    externalDocs: { description: "OpenAI's reference", url: `${REFERENCE}/${question.reference}` },
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
