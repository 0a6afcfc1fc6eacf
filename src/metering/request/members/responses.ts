import { CACHE_BREAKPOINT, EVERYWHERE, STREAM_OPTIONS } from './common.ts';
import { membersOf } from './members.ts';

/** Tools of the Responses API; their types are in ../tool-kinds.ts. */
export const RESPONSES_TOOL = membersOf({
  held: `type name description parameters.* strict input_schema.* output_schema.* format.* annotations.* allowed_callers
    async defer_loading execution tools server_label server_url server_description connector_id tunnel_id headers.*
    authorization allowed_tools.* require_approval.* display_height display_width environment.* namespace`,
  priced: 'search_context_size search_content_types user_location.* external_web_access',
  // What belongs to tools that are refused by their type.
  refused: `container.* vector_store_ids max_num_results ranking_options.* action background complexity frame_count
    frame_duration_ms input_fidelity input_image_mask.* moderation output_compression output_format partial_images quality
    size`,
  otherModels: 'model svg.*',
  // Of web searches the domains, of file searches the attributes.
  free: 'filters.*',
  within: { tools: 'self' },
});

/** Items of the input and their parts. */
const ITEM = membersOf({
  held: `type role id status phase content text.* refusal summary name namespace arguments input output call_id caller.*
    action.* actions.* operation.* result results.* queries reason approve approval_request_id server_label tools
    annotations.* logprobs.* encrypted_content code outputs.* stdout stderr outcome.* max_output_length environment.*
    execution async reasoning fingerprint error.* revised_prompt acknowledged_safety_checks.* pending_safety_checks.*
    container_id internal_chat_message_metadata_passthrough.*`,
  priced: 'image_url file_id file_url file_data filename detail input_audio.* prompt_cache_breakpoint',
  // Of pictures that were made before.
  free: 'background quality size output_format svg_usage.*',
  within: {
    content: 'self',
    summary: 'self',
    output: 'self',
    tools: RESPONSES_TOOL,
    reasoning: membersOf({ held: 'effort' }),
    prompt_cache_breakpoint: CACHE_BREAKPOINT,
  },
});

/** A response: `ResponseCreateParams` of openai. */
export const RESPONSES = membersOf({
  always: EVERYWHERE.always,
  read: 'model stream stream_options prompt_cache_key',
  priced: 'service_tier prompt_cache_options',
  held: `input instructions tools max_output_tokens max_tool_calls reasoning text previous_response_id
    context_management`,
  otherModels: `${EVERYWHERE.otherModels} moderation.*`,
  fees: 'provider plugins preset',
  // `background` by ../ask-responses.ts; the others name what another account may own.
  refused: 'background prompt.* conversation.*',
  free: `access_programs image include metadata.* client_metadata.* parallel_tool_calls
    prompt_cache_retention safety_identifier store temperature tool_choice.* top_logprobs top_p truncation user`,
  within: {
    input: ITEM,
    tools: RESPONSES_TOOL,
    stream_options: STREAM_OPTIONS,
    reasoning: membersOf({ held: 'effort summary generate_summary context', refused: 'mode' }),
    text: membersOf({ held: 'format.* verbosity' }),
    access_programs: membersOf({ free: 'cyber' }),
    image: membersOf({ free: 'context_compression' }),
    context_management: membersOf({ held: 'type compact_threshold' }),
    prompt_cache_options: membersOf({ free: 'mode comparison_response_id', priced: 'ttl', held: 'prewarm' }),
  },
});
