/** Members that are ids by their name, and name nothing that a provider stores. */
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
  // Anthropic's `diagnostics`: the answer says why a prompt cache was missed and shows nothing of that message.
  'previous_message_id',
]);

/** Members with free content: names in it come from the client or the model, and no provider reads them as ids. */
export const FREE_FORM: ReadonlySet<string> = new Set([
  // Labels of a call or a turn; the last two are sent by Codex.
  'metadata',
  'client_metadata',
  'internal_chat_message_metadata_passthrough',
  // JSON Schemas: a name that looks like an id is a property.
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
 * Lists whose elements have an `id` that the client, the model or the platform assigned; it refers to nothing stored.
 */
export const NUMBERED: ReadonlySet<string> = new Set([
  // Chat turns and their tool calls are sent in full; providers of these formats store none of them.
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
