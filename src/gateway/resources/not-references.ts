/** Names of members that look like ids and refer to nothing that a provider stores. */
export const NOT_REFERENCES: ReadonlySet<string> = new Set([
  // The client's own labels for the user, the session and the trace.
  'user_id',
  'request_id',
  'session_id',
  'trace_id',
  'span_id',
  'turn_id',
  // Tool calls within the same conversation.
  'call_id',
  'tool_call_id',
  'tool_use_id',
  'tool_id',
  'caller_id',
  // Tabs and downloads of the client's own browser.
  'tab_id',
  'download_id',
  // Anthropic's `diagnostics`: the answer says why a prompt cache was missed, and shows nothing of the message named.
  'previous_message_id',
]);

/**
 * Names of members whose content is free: names inside come from the client or the model, and none is read as an id.
 */
export const FREE_FORM: ReadonlySet<string> = new Set([
  // Labels of a call or a turn; the last two are sent by Codex.
  'metadata',
  'client_metadata',
  'internal_chat_message_metadata_passthrough',
  // JSON Schemas, in which a name that looks like an id is that of a property.
  'parameters',
  'input_schema',
  'output_schema',
  'schema',
  'json_schema',
  'guided_json',
  'structured_outputs',
  // Arguments of tool calls that the model made.
  'arguments',
  'action',
  // Headers and environment of tools that the client runs or reaches.
  'headers',
  'env',
  // Sources of an earlier answer's text; providers load nothing through them.
  'annotations',
  'citations',
]);

/**
 * Names of lists whose elements have an `id` that the client, the model or the platform made up, and that refers to
 * nothing stored.
 */
export const NUMBERED: ReadonlySet<string> = new Set([
  // Messages of a chat and their tool calls come in full; providers of these formats store none of them.
  'messages',
  'tool_calls',
  // Confirmations that the model asked for in the same conversation.
  'pending_safety_checks',
  'acknowledged_safety_checks',
  // OpenRouter's plugins, `[{ "id": "web" }]`: functions of its platform.
  'plugins',
]);

/** Values of `type` beside a `skill_id` that mark a skill as public. */
export const PUBLIC_SKILLS: ReadonlySet<unknown> = new Set(['anthropic', 'openai']);
