import type { Static } from '../openapi/json-type.ts';
import type { Explanation } from './explanation-schema.ts';

/** The answer that a call would get, check by check (specification section 2). */
export type ExplanationView = Static<typeof Explanation>;
/** One check of an explained call. */
export type CheckView = ExplanationView['checks'][number];
