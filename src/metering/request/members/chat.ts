import { CACHE_BREAKPOINT, CACHE_CONTROL, EVERYWHERE, STREAM_OPTIONS } from './common.ts';
import { membersOf } from './members.ts';

/** Messages of a chat and their parts. */
const MESSAGE = membersOf({
  free: 'detail id',
  held: `role type name content text refusal tool_calls.* function_call.* tool_call_id annotations.* cache_control
    prompt_cache_breakpoint reasoning reasoning_content reasoning_details.* thinking_blocks.* provider_specific_fields.*`,
  priced: 'audio.* image_url.* input_audio.* file.*',
  within: { content: 'self', cache_control: CACHE_CONTROL, prompt_cache_breakpoint: CACHE_BREAKPOINT },
});

/** Tools of a chat, all of which the client runs. */
export const CHAT_TOOL = membersOf({
  held: 'type function custom name description parameters.* strict defer_loading cache_control',
  otherModels: 'model',
  within: {
    function: membersOf({ held: 'name description parameters.* strict' }),
    custom: membersOf({ held: 'name description format.*' }),
    cache_control: CACHE_CONTROL,
  },
});

/** A chat completion: `ChatCompletionCreateParams` of openai, and what other vendors of the format have. */
export const CHAT = membersOf({
  always: EVERYWHERE.always,
  read: 'model stream stream_options prompt_cache_key',
  priced: 'modalities audio web_search_options service_tier prompt_cache_options cache_control',
  held: `messages tools functions.* max_tokens max_completion_tokens n prediction reasoning_effort response_format
    verbosity reasoning.* thinking.*`,
  otherModels: `${EVERYWHERE.otherModels} moderation.*`,
  // `plugins`, `provider` and `preset` of OpenRouter: tools, a dearer host, settings that nobody here sees. The next three are
  // web searches of xAI, Alibaba and Groq.
  fees: 'plugins provider preset search_parameters enable_search compound_custom',
  free: `frequency_penalty function_call.* logit_bias.* logprobs metadata.* parallel_tool_calls presence_penalty
    prompt_cache_retention safety_identifier seed stop store temperature tool_choice.* top_logprobs top_p
    user`,
  within: {
    messages: MESSAGE,
    tools: CHAT_TOOL,
    stream_options: STREAM_OPTIONS,
    audio: membersOf({ held: 'format voice.*' }),
    web_search_options: membersOf({ priced: 'search_context_size', free: 'user_location.*' }),
    prediction: membersOf({ held: 'type content.*' }),
    response_format: membersOf({ held: 'type json_schema.* schema.* grammar' }),
    prompt_cache_options: membersOf({ free: 'mode', priced: 'ttl' }),
    cache_control: CACHE_CONTROL,
  },
});
