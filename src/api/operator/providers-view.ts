import type { Static } from '../openapi/json-type.ts';
import type { ProviderList } from './providers-schema.ts';

/** The answer of `GET /api/admin/providers/`. */
export type ProviderListView = Static<typeof ProviderList>;
