/** Files of tests share one process, which is much faster; what a module keeps, they do not. */

import { vi } from 'vitest';

vi.resetModules();
