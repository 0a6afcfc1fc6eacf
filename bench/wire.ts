/** The gateway's upstream credential, by which the upstream tells its calls from the baselines'. */
export const UPSTREAM_CREDENTIAL = 'bench-upstream-credential';
/** Header that chooses the upstream's answer: a Behavior of the demo provider as JSON. Every proxy passes it on. */
export const BEHAVIOR_HEADER = 'x-bench-behavior';
export const CHAT_PATH = '/v1/chat/completions';
export const MODEL = 'bench-chat';
/** The same model at a separate provider. */
export const CROWD_MODEL = 'bench-crowd';
/** The same model at two targets. */
export const TARGETS_MODEL = 'bench-targets';
/** Location of the callers: a public address behind a trusted proxy, with a country to look up. */
const CALLER_ADDRESS = '8.8.8.8';
export const CALLER_ORIGIN = 'https://app.example.com';
export const CALLER_HEADERS = { origin: CALLER_ORIGIN, 'x-forwarded-for': CALLER_ADDRESS };
