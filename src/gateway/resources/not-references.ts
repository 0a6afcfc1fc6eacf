/** Members that are ids by their name, and name nothing that a provider stores. */
export const NOT_REFERENCES: ReadonlySet<string> = new Set([
  // Who asks, and where it belongs, in the client's own words.
  'user_id',
  'request_id',
  'session_id',
  'trace_id',
  'span_id',
  'turn_id',
  // A call of a tool, in the same conversation.
  'call_id',
  'tool_call_id',
  'tool_use_id',
  'tool_id',
  'caller_id',
  // What the client's own browser has open.
  'tab_id',
  'download_id',
  // Anthropic's `diagnostics`: it answers why a prompt cache was missed, and nothing of that message.
  'previous_message_id',
]);

/** Members whose content is free: names in it are the client's or the model's, and no provider reads them as ids. */
export const FREE_FORM: ReadonlySet<string> = new Set([
  // Labels that the client gives to a call or a turn; the last two are Codex'.
  'metadata',
  'client_metadata',
  'internal_chat_message_metadata_passthrough',
  // JSON Schemas: what looks like an id is the name of a property.
  'parameters',
  'input_schema',
  'output_schema',
  'schema',
  'json_schema',
  'guided_json',
  'structured_outputs',
  // What the model called a tool with.
  'arguments',
  'action',
  // Headers and environment of tools that the client runs or reaches.
  'headers',
  'env',
  // Where the words of an earlier answer came from. Nothing is loaded by them.
  'annotations',
  'citations',
]);

/** Lists of which each element's `id` is a number that the client, the model or the platform gave it. */
export const NUMBERED: ReadonlySet<string> = new Set([
  // Turns of a chat and the calls in them are sent along whole; no provider of these formats keeps them.
  'messages',
  'tool_calls',
  // What the model wanted confirmed, in the same conversation.
  'pending_safety_checks',
  'acknowledged_safety_checks',
  // OpenRouter's, `[{ "id": "web" }]`: functions of its platform.
  'plugins',
]);

/** Makers of skills that are anybody's, by the `type` that stands beside the `skill_id`. */
export const PUBLIC_SKILLS: ReadonlySet<unknown> = new Set(['anthropic', 'openai']);
