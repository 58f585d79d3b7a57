// Removes everything the build makes, and nothing else.
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const js = dirname(dirname(fileURLToPath(import.meta.url)));
for (const made of ['lib', '../cowork_jupyter/labextension', '../cowork_jupyter/static']) {
  rmSync(join(js, made), { recursive: true, force: true });
}
