/** Wire types of suggestions, see `domain/suggestions.py`. */

export type SuggestionKind = 'fix' | 'explain' | 'generate' | 'change' | 'complete' | 'next_cell';

export interface CellError {
  name: string;
  value: string;
  traceback: string;
}

export interface NearbyCell {
  id: string;
  cell_type: 'code' | 'markdown' | 'raw';
  source: string;
  has_run: boolean;
}

export interface SuggestionRequest {
  kind: SuggestionKind;
  cell_id: string;
  source: string;
  instruction?: string;
  selection?: [number, number];
  cursor?: number;
  error?: CellError;
  tried?: string[];
  cells: NearbyCell[];
}

export type SuggestionEvent =
  | { type: 'started'; id: string; model: string }
  | { type: 'text'; text: string }
  | { type: 'reset'; reason: string }
  | { type: 'done'; source: string; explanation: string }
  | { type: 'error'; error: { code: string; message: string; retryable?: boolean } };
