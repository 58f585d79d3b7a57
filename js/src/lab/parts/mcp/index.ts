import { t } from '../../../shared/text/translate';
import { lazy } from '../../../shared/ui/lazy';
import type { Part } from '../../part';

/** MCP servers. */
export const mcp: Part = {
  sections: [
    {
      order: 500,
      title: () => t('MCP servers'),
      Body: lazy(async () => (await import(/* webpackChunkName: "panel" */ './Servers')).Servers)
    }
  ]
};
