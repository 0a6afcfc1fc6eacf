import { membersOf } from './members.ts';

/** `cache_control` of Anthropic, and of providers that pass it on. */
export const CACHE_CONTROL = membersOf({ free: 'type', priced: 'ttl' });
/** `prompt_cache_breakpoint` of OpenAI. */
export const CACHE_BREAKPOINT = membersOf({ free: 'mode', priced: 'ttl' });

export const STREAM_OPTIONS = membersOf({ read: 'include_usage', free: 'include_obfuscation' });

/** Lists that every request has. */
export const EVERYWHERE = {
  /** Members by which OpenAI, OpenRouter and LiteLLM have another model run than the one named in `model`. */
  otherModels: 'models fallbacks fallback_models',
  /** Subagents of OpenAI's Responses: it sets no limit of them. */
  always: 'multi_agent',
} as const;
