import { test } from 'tap';
import { testDocumentedOperations } from '../helper/documented/documented-operations.ts';

test('the operations of the tag Operations are what the document says', (t) =>
  testDocumentedOperations(t, 'Operations'));
