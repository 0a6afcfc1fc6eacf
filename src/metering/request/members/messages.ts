import { CACHE_CONTROL, EVERYWHERE } from './common.ts';
import { membersOf } from './members.ts';

/** Tools of the Messages API; their types are in ../tool-kinds.ts. */
export const MESSAGES_TOOL = membersOf({
  held: `type name description input_schema.* input_examples.* strict defer_loading eager_input_streaming allowed_callers
    cache_control configs.* default_config.* mcp_server_name tools.* display_width_px display_height_px display_number
    enable_zoom max_characters max_uses max_content_tokens citations.* url_sources.* use_cache response_inclusion`,
  priced: 'user_location.* allowed_domains blocked_domains',
  otherModels: 'model',
  // Of the advisor, which another model is.
  refused: 'caching.* max_tokens',
  within: { cache_control: CACHE_CONTROL },
});

/** A tool that a message adds or removes. */
const TOOL_CHANGE = membersOf({
  held: 'type tool cache_control',
  within: {
    tool: membersOf({ held: 'type name server_name definition', within: { definition: MESSAGES_TOOL } }),
    cache_control: CACHE_CONTROL,
  },
});

/** Messages and their blocks, in which the members of results and sources stand as well. */
const BLOCK = membersOf({
  held: `role type content text citations.* title context id name input.* tool_use_id is_error caller.* toolset_name
    mcp_server_name server_name thinking signature data encrypted_content cache_control tool tool_changes tools.* tool_name
    tool_references.* tabs.* state_changes.* clear_at output_config url retrieved_at page_age error_code error_message
    return_code stdout stderr encrypted_stdout file_type lines new_lines new_start old_lines old_start num_lines start_line
    total_lines is_file_update stop_reason trigger from.* to.*`,
  priced: 'source file_id media_type transformations.*',
  within: {
    content: 'self',
    source: 'self',
    tool_changes: TOOL_CHANGE,
    tool: membersOf({ held: 'type name server_name definition', within: { definition: MESSAGES_TOOL } }),
    output_config: membersOf({ held: 'effort' }),
    cache_control: CACHE_CONTROL,
  },
});

const TRIGGER = membersOf({ held: 'type value' });

/** A message: `MessageCreateParams` of @anthropic-ai/sdk's beta/messages. */
export const MESSAGES = membersOf({
  always: EVERYWHERE.always,
  read: 'model stream',
  priced: 'service_tier speed inference_geo cache_control',
  held: `system messages tools max_tokens thinking output_config output_format mcp_servers context_management
    compaction`,
  otherModels: `${EVERYWHERE.otherModels} moderation.*`,
  fees: 'provider plugins preset',
  // By ../ask-messages.ts.
  refused: 'container.* thread.* billing_policy.*',
  free: 'metadata.* stop_sequences temperature top_k top_p tool_choice.* diagnostics fallback_credit_token',
  within: {
    system: BLOCK,
    messages: BLOCK,
    tools: MESSAGES_TOOL,
    cache_control: CACHE_CONTROL,
    thinking: membersOf({ held: 'type budget_tokens display block_binding.*' }),
    output_config: membersOf({ held: 'effort format.* task_budget.*' }),
    output_format: membersOf({ held: 'type schema.*' }),
    diagnostics: membersOf({ free: 'previous_message_id' }),
    fallback_credit_token: membersOf({ free: 'token mode' }),
    mcp_servers: membersOf({ held: 'type name url authorization_token tool_configuration.*' }),
    compaction: membersOf({ held: 'type instructions' }),
    context_management: membersOf({
      held: 'edits',
      within: {
        edits: membersOf({
          held: 'type keep trigger instructions pause_after_compaction',
          free: 'clear_at_least.* clear_tool_inputs exclude_tools',
          within: { keep: TRIGGER, trigger: TRIGGER },
        }),
      },
    }),
  },
});
