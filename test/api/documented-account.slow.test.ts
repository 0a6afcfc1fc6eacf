import { test } from 'tap';
import { testDocumentedOperations } from '../helper/documented/documented-operations.ts';

test('the operations of the tag Account match their description', (t) =>
  testDocumentedOperations(t, 'Account'));
