import { LabIcon } from '@jupyterlab/ui-components';

/** A checklist: first the plan, then the action. `jp-icon3` lets Lab colour it by theme. */
export const coworkIcon = new LabIcon({
  name: 'cowork-jupyter:cowork',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <g class="jp-icon3 jp-icon-selectable" fill="none" stroke="#616161"
     stroke-width="2" stroke-linecap="round" stroke-linejoin="round">
    <path class="jp-icon3" fill="none"
          d="M3.5 6l1.75 1.75L8.5 4.5M3.5 12.5l1.75 1.75L8.5 11M12 6.5h8.5M12 13h4M3.5 19.5h6"/>
  </g>
  <path class="jp-icon3 jp-icon-selectable" fill="#616161"
        d="M18.5 12l-5.5 6h3.5l-1 5 5.5-6.5h-3.5z"/>
</svg>`
});
