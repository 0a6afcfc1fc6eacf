import { EVERYWHERE, STREAM_OPTIONS } from './common.ts';
import { membersOf } from './members.ts';

/** The old completion: `CompletionCreateParams` of openai. */
export const COMPLETIONS = membersOf({
  ...EVERYWHERE,
  read: 'model stream stream_options',
  priced: 'service_tier',
  held: 'prompt max_tokens n best_of echo suffix',
  free: `frequency_penalty logit_bias.* logprobs presence_penalty seed stop temperature top_p user`,
  within: { stream_options: STREAM_OPTIONS },
});

export const EMBEDDINGS = membersOf({
  ...EVERYWHERE,
  read: 'model',
  priced: 'service_tier',
  held: 'input.*',
  free: 'dimensions encoding_format user',
});

/** Pictures: generations, edits and variations. */
export const IMAGES = membersOf({
  ...EVERYWHERE,
  read: 'model stream',
  files: 'image.* mask.* markup.*',
  priced: 'n size quality',
  held: 'prompt input_fidelity partial_images complexity frame_count',
  refused: 'output_format svg.*',
  free: 'background frame_duration_ms moderation output_compression response_format safety_identifier style user',
});

export const SPEECH = membersOf({
  ...EVERYWHERE,
  read: 'model stream_format',
  priced: 'input instructions speed',
  free: 'voice.* response_format',
});

/** Transcriptions and translations of sound. */
export const TRANSCRIPTION = membersOf({
  ...EVERYWHERE,
  read: 'model stream response_format',
  files: 'file.*',
  held: 'prompt',
  free: `chunking_strategy.* include keywords known_speaker_names known_speaker_references language languages temperature
    timestamp_granularities`,
});

export const VIDEOS = membersOf({
  ...EVERYWHERE,
  read: 'model',
  files: 'input_reference.*',
  priced: 'seconds size quality',
  free: 'prompt',
});
