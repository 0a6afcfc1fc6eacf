import type { Auth, WireFormat } from '../domain/catalog.ts';

/** Settings of an upstream that the name of a provider fills in (specification section 12). Every field can be overridden. */
export interface Preset {
  /** Address; absent if each customer has another one. It may name environment variables. */
  readonly url?: string;
  readonly format: WireFormat;
  /** Path that replaces `/v1`; absent: `/v1` stays. */
  readonly path?: string;
  /** Paths of single endpoints; they apply only while `path` is the preset's. */
  readonly paths?: Readonly<Record<string, string>>;
  /** How it is shown the credential; absent: as usual in its format. */
  readonly auth?: Auth;
  /** Its id in the price list; absent: the list does not have it. */
  readonly prices?: string;
  /** Its streams report their usage unasked, and a request to report it is an unknown field there. */
  readonly reportsUnasked?: true;
  /** The provider's page about this interface. */
  readonly docs: string;
}

/** Azure's interface without deployments in the path, which alone has these endpoints. */
const AZURE_V1 = '/openai/v1';

/**
 * Providers by the name that `upstreams.<name>.provider` has. Vertex and Bedrock are served at their OpenAI-compatible endpoints
 * only: Claude is called there with the model in the path, the version in the body, and (on Bedrock) answers in binary frames,
 * none of which can be passed on unchanged.
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
  // url: https://RESOURCE.openai.azure.com. `path: /openai/v1` is the interface without deployments.
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
    reportsUnasked: true,
    docs: 'https://docs.mistral.ai/api',
  },
  groq: {
    url: 'https://api.groq.com',
    format: 'openai',
    path: '/openai/v1',
    prices: 'groq',
    docs: 'https://console.groq.com/docs/openai',
  },
  // It bounds answers by max_tokens alone (metering/chat.ts).
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
  // Its paths begin without a version.
  perplexity: {
    url: 'https://api.perplexity.ai',
    format: 'openai',
    path: '/',
    prices: 'perplexity',
    reportsUnasked: true,
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

/** The preset with this name; undefined if it is none. */
export function presetOf(name: unknown): Preset | undefined {
  return typeof name === 'string' && Object.hasOwn(PRESETS, name)
    ? PRESETS[name as keyof typeof PRESETS]
    : undefined;
}

/** Settings of an upstream that a preset fills in if they are absent. */
const FILLED = ['url', 'format', 'path', 'auth', 'prices'] as const;

/**
 * A config tree with the presets of its upstreams filled in, before references to the environment are replaced: a preset may
 * have some as well.
 */
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
