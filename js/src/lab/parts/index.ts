/**
 * The parts, in one list: without a line here, and its folder, everything else builds and works
 * (`scripts/parts.mjs`). Parts do not know each other.
 */

import type { Part } from '../part';
import { comments } from './comments';
import { mcp } from './mcp';
import { memory } from './memory';
import { skills } from './skills';
import { stale } from './stale';
import { suggestions } from './suggestions';
import { watch } from './watch';
import { workflows } from './workflows';

export const parts: readonly Part[] = [
  watch,
  suggestions,
  stale,
  comments,
  workflows,
  skills,
  memory,
  mcp
];
