"""Files of label sequences: columns, CRFsuite, SVM-hmm."""
