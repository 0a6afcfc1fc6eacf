import { test } from 'tap';
import { testDocumentedOperations } from '../helper/documented/documented-operations.ts';

test('the operations of the tag Keys match their description', (t) => testDocumentedOperations(t, 'Keys'));
