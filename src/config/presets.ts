import type { Auth, StreamUsageSetting, WireFormat } from '../domain/catalog.ts';

/** Default upstream settings by provider name (specification section 12). Every field can be overridden. */
export interface Preset {
  /** Address; absent if it differs per customer. It may contain environment variables. */
  readonly url?: string;
  readonly format: WireFormat;
  /** Path that replaces `/v1`; absent: keeps `/v1`. */
  readonly path?: string;
  /** Paths of single endpoints; they apply only with the preset's `path`. */
  readonly paths?: Readonly<Record<string, string>>;
  /** How to send the credential; absent: the default of the format. */
  readonly auth?: Auth;
  /** Provider id in the price list; absent: not listed. */
  readonly prices?: string;
  /** `leave`: streams report usage unasked, and the request field for it is unknown. */
  readonly streamUsage?: StreamUsageSetting;
  /** The provider's documentation of this API. */
  readonly docs: string;
}

/** Azure's API without deployments in the path, the only one with these endpoints. */
const AZURE_V1 = '/openai/v1';

/**
 * Presets by `upstreams.<name>.provider`. Vertex and Bedrock are supported only at their OpenAI-compatible endpoints:
 * there, Claude takes the model in the path and the version in the body, and (on Bedrock) answers in binary frames,
 * none of which can be forwarded unchanged.
 */
export const PRESETS = {
  openai: {
    url: 'https://api.openai.com',
    format: 'openai',
    prices: 'openai',
    docs: 'https://platform.openai.com/docs/api-reference',
  },
  anthropic: {
    url: 'https://api.anthropic.com',
    format: 'anthropic',
    prices: 'anthropic',
    docs: 'https://docs.anthropic.com/en/api',
  },
  // url: https://RESOURCE.openai.azure.com. `path: /openai/v1` is the API without deployments.
  azure: {
    format: 'openai',
    path: '/openai/deployments/{model}?api-version=2024-10-21',
    paths: {
      '/v1/responses': AZURE_V1,
      '/v1/responses/compact': AZURE_V1,
      '/v1/responses/input_tokens': AZURE_V1,
      '/v1/videos': AZURE_V1,
    },
    auth: 'api-key',
    prices: 'azure',
    docs: 'https://learn.microsoft.com/azure/ai-foundry/openai/reference',
  },
  google: {
    url: 'https://generativelanguage.googleapis.com',
    format: 'openai',
    path: '/v1beta/openai',
    prices: 'google',
    docs: 'https://ai.google.dev/gemini-api/docs/openai',
  },
  vertex: {
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: references to the environment, as in a config file
    url: 'https://${GOOGLE_CLOUD_LOCATION}-aiplatform.googleapis.com',
    format: 'openai',
    path: '/v1/projects/${GOOGLE_CLOUD_PROJECT}/locations/${GOOGLE_CLOUD_LOCATION}/endpoints/openapi',
    auth: 'google',
    prices: 'google',
    docs: 'https://cloud.google.com/vertex-ai/generative-ai/docs/start/openai',
  },
  bedrock: {
    url: 'https://bedrock-runtime.${AWS_REGION}.amazonaws.com',
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: references to the environment, as in a config file
    format: 'openai',
    path: '/openai/v1',
    auth: 'aws',
    prices: 'aws',
    docs: 'https://docs.aws.amazon.com/bedrock/latest/userguide/inference-chat-completions.html',
  },
  mistral: {
    url: 'https://api.mistral.ai',
    format: 'openai',
    prices: 'mistral',
    streamUsage: 'leave',
    docs: 'https://docs.mistral.ai/api',
  },
  groq: {
    url: 'https://api.groq.com',
    format: 'openai',
    path: '/openai/v1',
    prices: 'groq',
    docs: 'https://console.groq.com/docs/openai',
  },
  // It limits answers by max_tokens alone (metering/chat.ts).
  deepseek: {
    url: 'https://api.deepseek.com',
    format: 'openai',
    prices: 'deepseek',
    docs: 'https://api-docs.deepseek.com',
  },
  xai: {
    url: 'https://api.x.ai',
    format: 'openai',
    prices: 'x-ai',
    docs: 'https://docs.x.ai/docs/api-reference',
  },
  openrouter: {
    url: 'https://openrouter.ai',
    format: 'openai',
    path: '/api/v1',
    prices: 'openrouter',
    docs: 'https://openrouter.ai/docs/api-reference/overview',
  },
  together: {
    url: 'https://api.together.xyz',
    format: 'openai',
    prices: 'together',
    docs: 'https://docs.together.ai/docs/openai-api-compatibility',
  },
  fireworks: {
    url: 'https://api.fireworks.ai',
    format: 'openai',
    path: '/inference/v1',
    prices: 'fireworks',
    docs: 'https://docs.fireworks.ai/tools-sdks/openai-compatibility',
  },
  cerebras: {
    url: 'https://api.cerebras.ai',
    format: 'openai',
    prices: 'cerebras',
    docs: 'https://inference-docs.cerebras.ai/resources/openai',
  },
  // Its paths have no version.
  perplexity: {
    url: 'https://api.perplexity.ai',
    format: 'openai',
    path: '/',
    prices: 'perplexity',
    streamUsage: 'leave',
    docs: 'https://docs.perplexity.ai/guides/chat-completions-guide',
  },
  cohere: {
    url: 'https://api.cohere.ai',
    format: 'openai',
    path: '/compatibility/v1',
    prices: 'cohere',
    docs: 'https://docs.cohere.com/docs/compatibility-api',
  },
  ollama: {
    url: 'http://127.0.0.1:11434',
    format: 'openai',
    docs: 'https://docs.ollama.com/openai',
  },
  vllm: {
    url: 'http://127.0.0.1:8000',
    format: 'openai',
    docs: 'https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html',
  },
} as const satisfies Readonly<Record<string, Preset>>;

export function presetOf(name: unknown): Preset | undefined {
  return typeof name === 'string' && Object.hasOwn(PRESETS, name)
    ? PRESETS[name as keyof typeof PRESETS]
    : undefined;
}

/** Upstream settings that a preset supplies if absent. */
const FILLED = ['url', 'format', 'path', 'auth', 'streamUsage', 'prices'] as const;

/** Fills presets into a config tree before environment references are replaced: presets may contain some. */
export function withPresets(tree: unknown): unknown {
  const upstreams = tree instanceof Map ? tree.get('upstreams') : undefined;
  if (!(tree instanceof Map && upstreams instanceof Map)) return tree;
  const filled = [...upstreams].map(([name, upstream]) => [name, filledIn(upstream)] as const);
  return new Map([...tree, ['upstreams', new Map(filled)]]);
}

function filledIn(upstream: unknown): unknown {
  const preset = upstream instanceof Map ? presetOf(upstream.get('provider')) : undefined;
  if (!(preset && upstream instanceof Map)) return upstream;
  const missing = FILLED.filter((field) => (upstream.get(field) ?? undefined) === undefined);
  const given = missing.flatMap((field) => (preset[field] === undefined ? [] : [[field, preset[field]]]));
  return new Map([...upstream, ...(given as [string, string][])]);
}
