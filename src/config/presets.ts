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
  /** Anthropic's format, if the provider serves its models in both with one credential; `format` is then `openai`. */
  readonly messages?: MessagesPreset;
  /** The provider's documentation of this API. */
  readonly docs: string;
}

interface MessagesPreset {
  /** Address, without /v1. Absent, or if `url` is overridden: that of the other format. */
  readonly url?: string;
  /** Path that replaces `/v1` at the address of the other format; absent: keeps `/v1`. */
  readonly path?: string;
  /** Absent: x-api-key. */
  readonly auth?: Auth;
  /** The provider's documentation of this API, as of November 2026, from which address and `auth` are. */
  readonly docs: string;
}

/** Azure's API without deployments in the path, the only one with these endpoints. */
const AZURE_V1 = '/openai/v1';

/**
 * Presets by `upstreams.<name>.provider`. Vertex is supported only at its OpenAI-compatible endpoint: elsewhere, it takes
 * the model in the path and the version in the body, which can't be forwarded unchanged.
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
  // url: https://RESOURCE.openai.azure.com, or .services.ai.azure.com. `path: /openai/v1` is the API without deployments.
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
    messages: {
      path: '/anthropic/v1',
      docs: 'https://platform.claude.com/docs/en/build-with-claude/claude-in-microsoft-foundry',
    },
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
    // The endpoint that AWS recommends; Bedrock Mantle is another one, for `messagesUrl`.
    messages: {
      path: '/anthropic/v1',
      auth: 'aws',
      docs: 'https://docs.aws.amazon.com/bedrock/latest/userguide/inference-messages-api.html',
    },
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
    messages: {
      url: 'https://api.deepseek.com/anthropic',
      docs: 'https://api-docs.deepseek.com/guides/anthropic_api',
    },
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
    messages: {
      path: '/api/v1',
      auth: 'bearer',
      docs: 'https://openrouter.ai/docs/guides/claude-code-integration',
    },
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
    messages: {
      path: '/inference/v1',
      auth: 'bearer',
      docs: 'https://docs.fireworks.ai/tools-sdks/anthropic-compatibility',
    },
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
  moonshot: {
    url: 'https://api.moonshot.ai',
    format: 'openai',
    prices: 'moonshotai',
    messages: {
      url: 'https://api.moonshot.ai/anthropic',
      auth: 'bearer',
      docs: 'https://platform.kimi.ai/docs/api/overview',
    },
    docs: 'https://platform.kimi.ai/docs/api/overview',
  },
  zai: {
    url: 'https://api.z.ai',
    format: 'openai',
    path: '/api/paas/v4',
    prices: 'zai',
    messages: {
      url: 'https://api.z.ai/api/anthropic',
      auth: 'bearer',
      docs: 'https://docs.z.ai/devpack/tool/claude',
    },
    docs: 'https://docs.z.ai/api-reference/introduction',
  },
  minimax: {
    url: 'https://api.minimax.io',
    format: 'openai',
    prices: 'minimax',
    messages: {
      url: 'https://api.minimax.io/anthropic',
      auth: 'bearer',
      docs: 'https://platform.minimax.io/docs/api-reference/text-anthropic-api',
    },
    docs: 'https://platform.minimax.io/docs/api-reference/text-openai-api',
  },
  qwen: {
    url: 'https://dashscope-intl.aliyuncs.com',
    format: 'openai',
    path: '/compatible-mode/v1',
    messages: {
      url: 'https://dashscope-intl.aliyuncs.com/apps/anthropic',
      docs: 'https://www.alibabacloud.com/help/en/model-studio/anthropic-api-messages',
    },
    docs: 'https://www.alibabacloud.com/help/en/model-studio/compatibility-of-openai-with-dashscope',
  },
  ollama: {
    url: 'http://127.0.0.1:11434',
    format: 'openai',
    // The cloud, unlike a local server, needs a credential, and takes it as a bearer token only.
    messages: { auth: 'bearer', docs: 'https://docs.ollama.com/api/anthropic-compatibility' },
    docs: 'https://docs.ollama.com/openai',
  },
  vllm: {
    url: 'http://127.0.0.1:8000',
    format: 'openai',
    messages: {
      auth: 'bearer',
      docs: 'https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html',
    },
    docs: 'https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html',
  },
  lmstudio: {
    url: 'http://127.0.0.1:1234',
    format: 'openai',
    messages: { docs: 'https://lmstudio.ai/docs/developer/anthropic-compat' },
    docs: 'https://lmstudio.ai/docs/developer/openai-compat',
  },
  llamacpp: {
    url: 'http://127.0.0.1:8080',
    format: 'openai',
    messages: { auth: 'bearer', docs: 'https://github.com/ggml-org/llama.cpp/tree/master/tools/server' },
    docs: 'https://github.com/ggml-org/llama.cpp/tree/master/tools/server',
  },
} as const satisfies Readonly<Record<string, Preset>>;

export function presetOf(name: unknown): Preset | undefined {
  return typeof name === 'string' && Object.hasOwn(PRESETS, name)
    ? PRESETS[name as keyof typeof PRESETS]
    : undefined;
}

/** Whether it is the address of a provider that refuses calls without a credential. Those of clouds have parts that vary. */
export function isPublic(url: string): boolean {
  return url.startsWith('https:') && Object.values<Preset>(PRESETS).some((preset) => preset.url === url);
}

/** Upstream settings that a preset supplies if absent, besides `format`, which the reader of an upstream does. */
const FILLED = ['url', 'messagesUrl', 'path', 'auth', 'streamUsage', 'prices'] as const;

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
  const isAbsent = (field: string) => (upstream.get(field) ?? undefined) === undefined;
  const { messages } = preset;
  const hasBoth = isAbsent('format') && isAbsent('url');
  const supplied: Readonly<Partial<Record<(typeof FILLED)[number], string | undefined>>> =
    messages && upstream.get('format') === 'anthropic'
      ? { ...preset, path: undefined, auth: undefined, ...messages }
      : { ...preset, messagesUrl: hasBoth ? messages?.url : undefined };
  const filled = FILLED.filter((field) => isAbsent(field) && supplied[field] !== undefined);
  return new Map([...upstream, ...filled.map((field) => [field, supplied[field]] as const)]);
}
