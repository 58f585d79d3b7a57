/** What a part brings. The core knows parts only as this; `parts/index.ts` lists them. */

import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import type { ComponentType } from 'preact';

import type { CardHost, CardLine } from '../shared/card/host';
import { History, Mentions } from './card/extras';

export interface Part {
  /** Bring commands, toolbar items and what follows notebooks, as everywhere in Lab. */
  plugins?: readonly JupyterFrontEndPlugin<void>[];
  sections?: readonly PanelSection[];
  /** Lines below the card of a run. */
  cardLines?: readonly ComponentType<CardLine>[];
  /** What else it does for cards. */
  card?: CardHost;
}

/** A section of the panel's overview, closed at first. */
export interface PanelSection {
  /** Its place among the others; rules have 400, trust 600, the model 700. */
  order: number;
  title: () => string;
  /** Value of the data attribute, for finding it on the page. */
  name?: string;
  /** Drawn, and so loaded, on first opening. */
  Body: ComponentType;
}

/** What cards get from the core in Lab, and from parts. */
export function hostOf(parts: readonly Part[]): CardHost {
  const lines = parts.flatMap(({ cardLines = [] }) => cardLines);
  return Object.assign({ Mentions, History, lines }, ...parts.map(({ card }) => card));
}
