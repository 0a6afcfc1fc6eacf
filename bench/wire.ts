/** What the gateway sends upstream as its credential, so that the upstream can tell its calls from the baselines'. */
export const UPSTREAM_CREDENTIAL = 'bench-upstream-credential';
/** Tells the upstream how to answer: a Behavior of the demo provider as JSON. Every proxy passes it on. */
export const BEHAVIOR_HEADER = 'x-bench-behavior';
export const CHAT_PATH = '/v1/chat/completions';
export const MODEL = 'bench-chat';
/** The same model at a separate provider. */
export const CROWD_MODEL = 'bench-crowd';
/** The same model at two targets. */
export const TARGETS_MODEL = 'bench-targets';
/** Where the callers are: a public address behind a trusted proxy, in a country that is looked up. */
const CALLER_ADDRESS = '8.8.8.8';
export const CALLER_ORIGIN = 'https://app.example.com';
export const CALLER_HEADERS = { origin: CALLER_ORIGIN, 'x-forwarded-for': CALLER_ADDRESS };
