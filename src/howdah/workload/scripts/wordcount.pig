-- WordCount in Pig Latin; INPUT, OUTPUT and REDUCES are parameters.
SET default_parallel $REDUCES;
lines = LOAD '$INPUT' USING TextLoader() AS (line:chararray);
words = FOREACH lines GENERATE FLATTEN(TOKENIZE(line, ' ')) AS word;
groups = GROUP words BY word;
counts = FOREACH groups GENERATE group, COUNT(words);
STORE counts INTO '$OUTPUT' USING PigStorage('\t');
